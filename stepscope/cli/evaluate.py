"""`stepscope evaluate`: how often the verdicts are right, on incidents that nobody wrote down."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from typing import Any

from stepscope.cli.output import NOTHING, print_json, quantity, share, table
from stepscope.cli.parser import DEFAULT_SEED, Commands, add_json, command, seed, whole
from stepscope.cli.progress import Bar
from stepscope.cli.runtime import one_blas_thread

DEFAULT_INCIDENTS = 100

_EPILOG = """\
a fifth of the runs are healthy, with and without decoys; every seventh has two causes
what was measured on seeds that no threshold has seen is in docs/evaluation.md"""


def add(commands: Commands) -> None:
    """Add the command."""
    parser = command(
        commands, "evaluate", run, summary="measure verdicts on random incidents, 4 to 1,024 GPUs, as scrapes see them",
        epilog=_EPILOG,
    )  # fmt: skip
    parser.add_argument(
        "--incidents", type=whole(1, 100_000), default=DEFAULT_INCIDENTS, help="how many (default: %(default)s)"
    )
    parser.add_argument("--seed", type=seed, default=DEFAULT_SEED, help="of the incidents (default: %(default)s)")
    parser.add_argument("--processes", type=whole(1, 1_024), help="at once (default: one per core)")
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Play, score and print."""
    one_blas_thread()
    from stepscope.evaluation.many import play_all
    from stepscope.evaluation.score import as_json, report

    bar = Bar(sys.stderr, title="evaluate", unit="incidents")
    try:
        played = play_all(args.incidents, seed=args.seed, processes=args.processes, progress=bar)
    finally:
        bar.clear()
    found = as_json(report(played)) | {"seed": args.seed}
    if args.json:
        print_json(found)
    else:
        print(for_people(found))
    return 0


def for_people(found: Mapping[str, Any]) -> str:
    """The summary, one line per kind, and the misses."""
    summary = found["summary"]
    lines = [
        f"{summary['incidents']} incidents of seed {found['seed']}",
        f"right cause first, moderate and severe  {_share(summary['cause_accuracy'])}",
        f"right culprit, of those that have one   {_share(summary['culprit_accuracy'])}",
        f"right cause first, mild                 {_share(summary['mild_accuracy'])}",
        f"false alarms in {summary['healthy_windows']:4d} healthy windows    {_share(summary['false_alarm_rate'])}",
        f"two causes, both among the first three  {_share(summary['compound_top3'])}",
        f"median time to a right verdict          {quantity(summary['median_seconds_to_verdict'])} s",
    ]
    rows = [
        (
            kind, str(row["incidents"]), *(_share(row[key]) for key in ("mild", "moderate", "severe", "culprit")),
            quantity(row["median_seconds_to_verdict"]),
        )
        for kind, row in found["by_kind"].items()
    ]  # fmt: skip
    headings = ("kind", "incidents", "mild", "moderate", "severe", "culprit", "seconds")
    return "\n".join(lines) + "\n\n" + table(headings, rows, right=" >>>>>>") + f"\n\nmisses: {len(found['misses'])}"


def _share(value: float | None) -> str:
    return NOTHING if value is None else share(value)
