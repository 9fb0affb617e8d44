"""`stepscope diagnose`: what is wrong with a run, from what it shows: a lab's, any Prometheus', or a file of times."""

from __future__ import annotations

import argparse
from importlib import import_module

from stepscope.cli.parser import Commands, add_json, add_server, command, number

_EPILOG = """\
a file of --ranks is CSV with a header, rows in any order, other columns ignored:
  long: step,rank,phase,seconds and optionally dp_rank,stage; one row per step, rank and phase
        phases: data_wait h2d forward backward collective_wait collective optimizer checkpoint stall,
        operations of Megatron traces (forward-compute, backward-compute, gc, …), or step: the whole step
  wide: step and one column per rank, the seconds that the rank worked in that step
examples:
  stepscope diagnose
  stepscope diagnose --prometheus http://127.0.0.1:9090 --run workshop-4gpu-1 --at 2026-03-01T12:00:00Z
  stepscope diagnose --ranks times.csv --price 2.5"""


def add(commands: Commands) -> None:
    """Add the command."""
    parser = command(
        commands, "diagnose", _run, summary="name the cause of what slows a run, whom, and what it costs",
        epilog=_EPILOG,
    )  # fmt: skip
    add_server(parser, token=False)
    parser.set_defaults(token=None)
    source = parser.add_argument_group("instead of a lab")
    source.add_argument("--prometheus", metavar="URL", help="a Prometheus that scrapes the job")
    source.add_argument("--run", metavar="R", dest="label", help="value of the label run (default: the only one)")
    source.add_argument("--at", metavar="T", help="moment to judge: Unix seconds or RFC 3339 (default: now)")
    source.add_argument("--step", type=_span, metavar="S", help="scrape interval, such as 15s (default: 15s)")
    source.add_argument("--ranks", metavar="FILE", help="CSV with per-rank step times")
    parser.add_argument("--window", type=_span, metavar="W", help="stretch to judge, such as 2m or 90s (default: 1m)")
    parser.add_argument("--price", type=number, metavar="P", help="price of a GPU-hour, to say what is wasted")
    add_json(parser)


def _run(args: argparse.Namespace) -> int:
    # Imported when it is needed: HTTP and NumPy cost more time than all the rest of the command line.
    return int(import_module("stepscope.cli.diagnose_run").run(args))


_UNITS = {"s": 1.0, "m": 60.0, "h": 3_600.0}


def _span(text: str) -> float:
    """A type for spans of time, in seconds."""
    digits, unit = (text[:-1], text[-1]) if text[-1:] in _UNITS else (text, "s")
    if not (digits.isascii() and digits.replace(".", "", 1).isdigit() and len(digits) < 12):
        raise argparse.ArgumentTypeError(f"{text!r} is not a span of time such as 90s, 2m or 1h")
    seconds = float(digits) * _UNITS[unit]
    if not 1 <= seconds <= 86_400:
        raise argparse.ArgumentTypeError(f"{text!r} is not from 1s to 24h")
    return seconds
