"""`stepscope fault …`: break a running lab and put it back."""

from __future__ import annotations

import argparse
from importlib import import_module

from stepscope.cli import fault_options
from stepscope.cli.parser import Commands, Parser, add_json, add_server, command, fault_name, one_of, whole

_STATES = ("pending", "ramping", "active", "recovering", "cleared", "expired", "aborted")


def add(commands: Commands) -> None:
    """Add the command and what it can do."""
    parser = commands.add_parser(
        "fault",
        help="break a running lab, look at its faults, put it back",
        description="Break a running lab, look at its faults, put it back. Talks to the lab's REST API.",
        epilog="try: stepscope fault add slow straggler --rank 2",
        allow_abbrev=False,
    )
    actions = parser.add_subparsers(title="actions", metavar="ACTION", dest="action", required=True)
    kinds = _action(
        actions, "kinds", "fault_view.kinds", summary="what can go wrong, with parameters and what to look at"
    )
    kinds.add_argument("kind", nargs="?", metavar="KIND", help="only this one, in full")
    fault_options.add_options(
        _action(actions, "add", "fault_add.run", summary="create a fault, or replace the one of that name",
                epilog=fault_options.EPILOG)
    )  # fmt: skip
    _add_list(actions)
    _named(_action(actions, "show", "fault_view.show", summary="one fault, with its schedule and whom it hits"))
    change = _action(
        actions, "change", "fault_change.run", summary="change how strong a fault is or when it ends, or pause it",
        epilog=fault_options.CHANGE_EPILOG,
    )  # fmt: skip
    _named(change)
    fault_options.add_changes(change)
    clear = _action(actions, "clear", "fault_end.clear", summary="end a fault")
    _named(clear)
    clear.add_argument("--immediate", action="store_true", help="without its ramp down")
    _action(
        actions, "reset", "fault_end.reset",
        summary="end every fault at once and put the model back to its last good checkpoint",
    )  # fmt: skip


def _add_list(actions: Commands) -> None:
    parser = _action(actions, "list", "fault_view.listing", summary="faults of this run, ended ones included")
    parser.add_argument(
        "--state", type=one_of(*_STATES), metavar="STATE", help=f"only in this state: {', '.join(_STATES)}"
    )
    parser.add_argument("--kind", metavar="KIND", help="only of this kind")
    parser.add_argument("--rank", type=whole(0), metavar="N", help="only those that hit this rank")


def _action(actions: Commands, name: str, does: str, *, summary: str, epilog: str = "") -> Parser:
    """An action that the function `does`, a dotted name below this package, carries out."""
    module, _, function = does.partition(".")

    def run(args: argparse.Namespace) -> int:
        # Imported when it is needed: HTTP costs more time than all the rest of the command line.
        return int(getattr(import_module(f"stepscope.cli.{module}"), function)(args))

    parser = command(actions, name, run, summary=summary, epilog=epilog)
    add_server(parser)
    add_json(parser)
    return parser


def _named(parser: Parser) -> None:
    parser.add_argument("name", type=fault_name, metavar="NAME", help="name of the fault, see stepscope fault list")
