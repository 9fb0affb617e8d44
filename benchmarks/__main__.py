"""`python -m benchmarks`: measure everything, write BENCHMARKS.md, say what was missed."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from benchmarks import (
    diagnosing,
    exporting,
    headless,
    machine,
    nvml,
    parsing,
    prometheus,
    recording,
    rendering,
    report,
    scale,
    scraping,
    starting,
)
from benchmarks.labs import ROOT
from benchmarks.row import Row

PARTS: Mapping[str, Callable[..., Iterator[Row]]] = {
    # Starting comes first: it measures files that this process has not read yet.
    "starting": starting.rows,
    "scraping": scraping.rows,
    "rendering": rendering.rows,
    "parsing": parsing.rows,
    "nvml": nvml.rows,
    "exporting": exporting.rows,
    "recording": recording.rows,
    "headless": headless.rows,
    "diagnosing": diagnosing.rows,
    "scale": scale.rows,
    "prometheus": prometheus.rows,
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run the parts asked for; 1 when a bound was missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__, allow_abbrev=False)
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--quick", action="store_true", help="only try that everything runs; the numbers mean nothing")
    parser.add_argument("--only", choices=PARTS, action="append", help="only this part; may be given several times")
    parser.add_argument("--output", type=Path, help="file to write (default: BENCHMARKS.md for a whole run, else none)")
    args = parser.parse_args(argv)
    facts = machine.describe()
    rows: list[Row] = []
    for name, measure in PARTS.items():
        if args.only is None or name in args.only:
            print(f"{name} …", file=sys.stderr, flush=True)
            rows += measure(quick=args.quick)
    page = report.markdown(facts, rows)
    output = args.output or (ROOT / "BENCHMARKS.md" if not (args.quick or args.only) else None)
    if output is not None:
        output.write_text(page, encoding="utf-8")
    print(json.dumps(report.as_json(facts, rows, quick=args.quick), indent=2) if args.json else page, end="\n")
    missed = [] if args.quick else [row.name for row in rows if row.verdict == "MISS"]
    if missed:
        print(f"missed: {', '.join(missed)}", file=sys.stderr)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
