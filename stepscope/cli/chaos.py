"""`stepscope chaos …`: failures of the monitoring itself, as lessons."""

from __future__ import annotations

import argparse
import re
from importlib import import_module

from stepscope.cli.parser import Commands, Parser, add_json, command, whole
from stepscope.cli.stack_options import add_stack

MOST_SECONDS = 3600
# These repeat what stepscope.stack says, so that parsing words does not import the Docker SDK; a test compares them.
SUMMARIES = {
    "pause": "freeze it: a scrape hangs until its timeout",
    "stop": "stop it: its name is no longer found",
    "kill": "kill it: a gap, then counters that start again at 0",
    "disconnect": "take it off its networks: it runs and nobody reaches it",
    "throttle": "leave it almost no CPU: scrapes get slow",
}
DEFAULT_CPU_PERCENT = 3

_EPILOG = """\
only containers of this compose project with the label stepscope.chaos are broken, each for a limited time; Ctrl-C puts
back what is broken, and so does stepscope chaos reset after a crash
try: stepscope chaos pause simulator --for 30s"""


def add(commands: Commands) -> None:
    """Add the command and what it can do."""
    parser = commands.add_parser(
        "chaos",
        help="break the monitoring itself for a while: a lesson in what dashboards then say",
        description="Break the monitoring itself for a while: a lesson in what dashboards then say.",
        epilog=_EPILOG,
        allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    actions = parser.add_subparsers(title="actions", metavar="ACTION", dest="action", required=True)
    for name, summary in SUMMARIES.items():
        breaking = _action(actions, name, "chaos_run.run", summary=summary)
        breaking.add_argument("service", metavar="SERVICE", help="a service of the stack, see stepscope status")
        breaking.add_argument(
            "--for", type=duration, default=30, dest="seconds", metavar="TIME", help="such as 30s or 2m (default: 30s)"
        )
        if name == "throttle":
            breaking.add_argument(
                "--cpu", type=whole(1, 100), default=DEFAULT_CPU_PERCENT, metavar="PERCENT",
                help="share of one CPU that is left to it (default: %(default)s)",
            )  # fmt: skip
    _action(actions, "reset", "chaos_run.reset", summary="put back all that is broken, also after a crash")


def duration(text: str) -> int:
    """A type for times; whole seconds."""
    found = re.fullmatch(r"(?:(\d{1,4})m)?(?:(\d{1,4})s?)?", text, re.ASCII)
    seconds = 60 * int(found[1] or 0) + int(found[2] or 0) if found else 0
    if not 1 <= seconds <= MOST_SECONDS:
        raise argparse.ArgumentTypeError(f"{text!r} is not a time from 1s to {MOST_SECONDS // 60}m, such as 30s or 2m")
    return seconds


def _action(actions: Commands, name: str, does: str, *, summary: str) -> Parser:
    module, _, function = does.partition(".")

    def run(args: argparse.Namespace) -> int:
        # Imported when it is needed: the Docker SDK may not be installed.
        return int(getattr(import_module(f"stepscope.cli.{module}"), function)(args))

    parser = command(actions, name, run, summary=summary)
    add_stack(parser)
    add_json(parser)
    return parser
