"""`stepscope job show` and `start`: what a running lab trains, and another job in its place."""

from __future__ import annotations

import argparse
from typing import Any

from stepscope.cli.parser import Commands, add_json, add_server, command, one_of, seed


def add(commands: Commands) -> None:
    """Add the command and what it can do."""
    parser = commands.add_parser(
        "job",
        help="see what a running lab trains, or start another job in its place",
        description="See what a running lab trains, or start another job in its place. Talks to the lab's REST API.",
        epilog="try: stepscope job start trap-87",
        allow_abbrev=False,
    )
    actions = parser.add_subparsers(title="actions", metavar="ACTION", dest="action", required=True)
    look = command(actions, "show", show, summary="what runs")
    begin = command(
        actions, "start", start, summary="end the run, and its faults with it, and start a preset as a new one"
    )
    begin.add_argument("preset", metavar="PRESET", type=_preset, help="the job, see stepscope presets")
    begin.add_argument("--seed", type=seed, help="seed of the new run (default: that of the run it replaces)")
    for action in (look, begin):
        add_server(action)
        add_json(action)


def show(args: argparse.Namespace) -> int:
    """Print what runs."""
    from stepscope.cli.client import Client, path_of

    return _print(args, Client.of(args).call("GET", path_of("job")))


def start(args: argparse.Namespace) -> int:
    """Start a preset in place of what runs."""
    from stepscope.cli.client import Client, path_of

    body = {"preset": args.preset} | ({} if args.seed is None else {"seed": args.seed})
    answer = Client.of(args).call("PUT", path_of("job"), body=body, typed={"/preset": "PRESET", "/seed": "--seed"})
    return _print(args, answer)


def _preset(name: str) -> str:
    """A type for presets; knows them without a lab."""
    from simulator.presets import PRESETS

    return one_of(*PRESETS)(name)


def _print(args: argparse.Namespace, answer: dict[str, Any]) -> int:
    from stepscope.cli.output import print_json

    if args.json:
        print_json(answer)
        return 0
    run = answer["run"]
    print(f"{run['run']}: {run['preset']}, seed {run['seed']}, {run['ranks']:,} × {run['gpu_model']}, {run['model']}")
    for warning in run["warnings"]:
        print(f"mind: {warning}")
    return 0
