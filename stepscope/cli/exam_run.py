"""What the actions of `stepscope exam` do."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from stepscope.cli.client import Client, path_of
from stepscope.cli.output import duration, print_json, table


def start(args: argparse.Namespace) -> int:
    """Begin an exam."""
    body: dict[str, Any] = {
        "duration_seconds": 60.0 * args.minutes,
        "hint_cost": args.hint_cost,
        "causes": args.causes,
        "preset": args.preset,
    }
    body |= {key: value for key, value in (("scenario", args.scenario), ("kinds", args.kinds)) if value is not None}
    typed = {
        "/duration_seconds": "--minutes", "/hint_cost": "--hint-cost", "/preset": "--preset", "/scenario": "--scenario",
        "/kinds": "--kind", "/causes": "--causes",
    }  # fmt: skip
    return _control(args, "start", body=body, typed=typed)


def status(args: argparse.Namespace) -> int:
    """Say where it is."""
    client = Client.of(args)
    found = client.call("GET", path_of("exam"))
    secret = client.call("GET", path_of("exam", "answer")) if args.answer else None
    if args.json:
        print_json(found if secret is None else secret)
        return 0
    _show(found if secret is None else found | {"truth": secret["truth"], "board": secret["board"]})
    for number, hint in enumerate(secret["hints"] if secret else (), start=1):
        print(f"hint {number}: {hint}")
    return 0


def extend(args: argparse.Namespace) -> int:
    """Give more time."""
    return _control(args, "extend", body={"seconds": 60.0 * args.minutes}, typed={"/seconds": "--minutes"})


def stop(args: argparse.Namespace) -> int:
    """End it."""
    return _control(args, "stop")


def reveal(args: argparse.Namespace) -> int:
    """Show everything."""
    return _control(args, "reveal")


def forget(args: argparse.Namespace) -> int:
    """Keep nothing."""
    return _control(args, "forget")


def _control(
    args: argparse.Namespace, what: str, *, body: object = None, typed: Mapping[str, str] | None = None
) -> int:
    found = Client.of(args).call("POST", path_of("exam", what), body=body, typed=typed)
    if args.json:
        print_json(found)
    else:
        _show(found)
    return 0


def _show(found: Mapping[str, Any]) -> None:
    if found["state"] == "idle":
        print("no exam; start one: stepscope exam start --minutes 20")
        return
    left = f", {duration(found['remaining_seconds'])} left" if found["state"] == "running" else ""
    print(f"{found['exam']} on {found['preset']}: {found['state']}{left}")
    for truth in found["truth"] or ():
        ranks = truth["ranks"]
        who = "nobody to be named" if ranks is None else f"rank {' or '.join(map(str, ranks))}"
        print(f"wrong: {truth['cause']}, {who}; remedy: {' or '.join(truth['remedies'])}")
    if found["board"]:
        print(table(("name", "answered after", "hints", "points"), [_row(row) for row in found["board"]]))
    elif found["state"] == "running":
        print("nobody has joined yet: on the lab's page, under Exam")


def _row(row: Mapping[str, Any]) -> tuple[str, str, str, str]:
    after, points = row["answered_after_seconds"], row["points"]
    return (
        # Whoever joined chose it: nothing in it may move the cursor.
        "".join(sign if sign.isprintable() else "?" for sign in row["name"]),
        "not yet" if after is None else duration(after),
        str(row["hints_taken"]),
        "hidden" if points is None else f"{points:g}",
    )
