"""`stepscope scenario …`: scripted incidents, their questions, and playing them on a running lab."""

from __future__ import annotations

import argparse
from importlib import import_module

from stepscope.cli.parser import MAX_SEED, Commands, Parser, add_json, add_server, command, number, whole


def add(commands: Commands) -> None:
    """Add the command and what it can do."""
    parser = commands.add_parser(
        "scenario",
        help="list, read, play and stop scripted incidents on a running lab",
        description="Scripted incidents: a job, what breaks in it and when. Talks to the lab's REST API.",
        epilog="try: stepscope scenario run film",
        allow_abbrev=False,
    )
    actions = parser.add_subparsers(title="actions", metavar="ACTION", dest="action", required=True)
    _action(actions, "list", "listing", summary="the scenarios that come with the lab, and what was played")
    read = _action(actions, "show", "show", summary="the question of a scenario")
    read.add_argument("scenario", metavar="ID", help="see stepscope scenario list")
    read.add_argument("--hints", action="store_true", help="with its hints")
    read.add_argument("--answer", action="store_true", help="with its answer; needs the lab's token")
    play = _action(
        actions, "run", "run", summary="play a scenario: its job takes the place of what runs",
        epilog="a file has the keys of those in faults/scenarios; Ctrl-C with --wait stops the playback",
    )  # fmt: skip
    play.add_argument("scenario", metavar="ID|FILE", help="id of a scenario, or a YAML file of your own")
    play.add_argument("--seed", type=whole(0, MAX_SEED), help="in place of the scenario's own")
    play.add_argument("--speed", type=number, help="compress its timeline so many times, 0.25 to 10 (default: 1)")
    play.add_argument("--wait", action="store_true", help="stay until it is over")
    end = _action(actions, "stop", "stop", summary="clear what is left of a playback; the run goes on")
    end.add_argument("playback", metavar="PLAYBACK", nargs="?", help="its id (default: the one that plays)")


def _action(actions: Commands, name: str, function: str, *, summary: str, epilog: str = "") -> Parser:
    """An action that a function of `scenario_run` carries out."""

    def run(args: argparse.Namespace) -> int:
        # Imported when it is needed: HTTP costs more time than all the rest of the command line.
        return int(getattr(import_module("stepscope.cli.scenario_run"), function)(args))

    parser = command(actions, name, run, summary=summary, epilog=epilog)
    add_server(parser)
    add_json(parser)
    return parser
