"""`stepscope exam …`: run an exam on a lab, for whoever has its token."""

from __future__ import annotations

import argparse
from importlib import import_module

from stepscope.cli.parser import DEFAULT_PRESET, Commands, Parser, add_json, add_server, command, number, whole


def add(commands: Commands) -> None:
    """Add the command and what it can do."""
    parser = commands.add_parser(
        "exam",
        help="start a hidden incident, watch who finds it, reveal it",
        description="A hidden incident on a running lab. Those who look for it join on the lab's page; starting, "
        "ending and revealing it need the lab's token. Talks to the lab's REST API.",
        epilog="try: stepscope exam start --minutes 20",
        allow_abbrev=False,
    )
    actions = parser.add_subparsers(title="actions", metavar="ACTION", dest="action", required=True)
    start = _action(actions, "start", "start", summary="begin: a new run with something hidden in it")
    start.add_argument("--minutes", type=number, default=20.0, help="how long answers are taken (default: 20)")
    what = start.add_mutually_exclusive_group()
    what.add_argument("--preset", default=DEFAULT_PRESET, help=f"job of a drawn incident (default: {DEFAULT_PRESET})")
    what.add_argument("--scenario", metavar="ID", help="one of the lab's scenarios in place of a drawn incident")
    start.add_argument("--kind", dest="kinds", action="append", metavar="KIND", help="draw from these kinds; repeat")
    start.add_argument("--causes", type=whole(0, 3), default=1, help="how many things are wrong, 0 to 3 (default: 1)")
    start.add_argument("--hint-cost", type=number, default=10.0, help="points that a hint costs (default: 10)")
    show = _action(actions, "status", "status", summary="where it is, and who answered")
    show.add_argument("--answer", action="store_true", help="with what is wrong and the points so far; needs the token")
    more = _action(actions, "extend", "extend", summary="give everybody more time")
    more.add_argument("--minutes", type=number, default=5.0, help="how much more (default: 5)")
    _action(actions, "stop", "stop", summary="end it before its time; nothing is shown yet")
    _action(actions, "reveal", "reveal", summary="show everybody what was wrong, and who found it")
    _action(actions, "forget", "forget", summary="keep nothing of it; the run goes on")


def _action(actions: Commands, name: str, function: str, *, summary: str) -> Parser:
    """An action that a function of `exam_run` carries out."""

    def run(args: argparse.Namespace) -> int:
        # Imported when it is needed: HTTP costs more time than all the rest of the command line.
        return int(getattr(import_module("stepscope.cli.exam_run"), function)(args))

    parser = command(actions, name, run, summary=summary)
    add_server(parser)
    add_json(parser)
    return parser
