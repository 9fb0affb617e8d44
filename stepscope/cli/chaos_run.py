"""`stepscope chaos pause` and its likes, and `stepscope chaos reset`."""

from __future__ import annotations

import argparse
from datetime import UTC, datetime
from typing import Any

from stepscope.cli.chaos import DEFAULT_CPU_PERCENT
from stepscope.cli.errors import FAILED
from stepscope.cli.output import print_json
from stepscope.cli.stack_options import lease_file, opened
from stepscope.stack.actions import ACTIONS
from stepscope.stack.chaos import Chaos, Ended, Left, Order, Outcome
from stepscope.stack.engine import engine_id
from stepscope.stack.interrupt import interruptible
from stepscope.stack.lease import Lease

SIGNALLED = 128
"""And the signal's number, as a shell reports it."""
_ENDED: dict[Ended, str] = {"time": "", "signal": ", stopped early", "reset": ", ended by stepscope chaos reset"}
_LEFT: dict[Left, str] = {"undone": "put back", "container gone": "its container is gone, nothing to put back"}


def run(args: argparse.Namespace) -> int:
    """Break, wait, put back; 128 and the signal's number when one ended it early."""
    order = Order(args.action, args.service, args.seconds, getattr(args, "cpu", DEFAULT_CPU_PERCENT))
    with opened(args) as project, interruptible() as interrupt:
        chaos = Chaos(project, engine_id(project.client), lease_file())
        outcome = chaos.run(order, interrupt, began=_nothing if args.json else _announce)
        if args.json:
            print_json(_as_mapping(outcome))
        else:
            print(_sentence(outcome))
        return 0 if interrupt.signal is None else SIGNALLED + interrupt.signal


def reset(args: argparse.Namespace) -> int:
    """Put back everything; 1 when something could not be."""
    with opened(args) as project:
        done, failed = Chaos(project, engine_id(project.client), lease_file()).reset()
    if args.json:
        kept = [{"service": each.lease.service, "action": each.lease.action, "detail": each.reason} for each in failed]
        print_json({"undone": [_as_mapping(outcome) for outcome in done], "failed": kept})
    else:
        told = [*map(_sentence, done), *(f"not put back: {each.reason}" for each in failed)]
        print("\n".join(told) or "nothing is broken on purpose")
    return FAILED if failed else 0


def _announce(lease: Lease) -> None:
    action = ACTIONS[lease.action]
    lasts = f"{lease.service} is {action.done} for {lease.until - lease.began:.0f} s; Ctrl-C puts it back"
    print(f"{lasts}\nlook at: {action.look_at}", flush=True)


def _nothing(_: Lease) -> None:
    pass


def _sentence(outcome: Outcome) -> str:
    told = f"{outcome.lease.service}: {_LEFT[outcome.left]} after {outcome.seconds:.0f} s of {outcome.lease.action}"
    return told + _ENDED[outcome.ended]


def _as_mapping(outcome: Outcome) -> dict[str, Any]:
    lease = outcome.lease
    return {
        "service": lease.service,
        "action": lease.action,
        "container": lease.container,
        "began_at": datetime.fromtimestamp(lease.began, UTC).isoformat(timespec="milliseconds"),
        "seconds": round(outcome.seconds, 3),
        "ended_by": outcome.ended,
        "left": outcome.left,
        "look_at": ACTIONS[lease.action].look_at,
    }
