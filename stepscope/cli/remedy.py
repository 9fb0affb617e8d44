"""`stepscope remedy …`: do something about what is wrong with the job of a running lab."""

from __future__ import annotations

import argparse
from importlib import import_module

from stepscope.cli.parser import Commands, Parser, add_json, add_server, command, whole


def add(commands: Commands) -> None:
    """Add the command and what it can do."""
    parser = commands.add_parser(
        "remedy",
        help="do something about a slow job: settings, repairs, a restart",
        description="What an engineer would do about a slow job. The right remedy ends its cause, another changes what "
        "it changes. Talks to the lab's REST API.",
        epilog="try: stepscope remedy apply NCCL_BUFFSIZE=4194304",
        allow_abbrev=False,
    )
    actions = parser.add_subparsers(title="actions", metavar="ACTION", dest="action", required=True)
    look = _action(actions, "list", "listing", summary="what can be done, and what was done about this run")
    look.add_argument("remedy", nargs="?", metavar="REMEDY", help="only this one, in full")
    apply = _action(actions, "apply", "apply", summary="apply a remedy")
    apply.add_argument("remedy", metavar="REMEDY[=VALUE]", help="see stepscope remedy list")
    where = apply.add_mutually_exclusive_group()
    where.add_argument("--node", dest="nodes", type=whole(0), action="append", metavar="N", help="on this node; repeat")
    where.add_argument("--rank", dest="ranks", type=whole(0), action="append", metavar="N", help="on this rank; repeat")
    apply.add_argument("--dry-run", action="store_true", help="only say what it would do")


def _action(actions: Commands, name: str, function: str, *, summary: str) -> Parser:
    """An action that a function of `remedy_run` carries out."""

    def run(args: argparse.Namespace) -> int:
        # Imported when it is needed: HTTP costs more time than all the rest of the command line.
        return int(getattr(import_module("stepscope.cli.remedy_run"), function)(args))

    parser = command(actions, name, run, summary=summary)
    add_server(parser)
    add_json(parser)
    return parser
