"""BENCHMARKS.md, and the same as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from benchmarks.row import Row

_HEAD = """\
# Benchmarks

Written by `make bench` in one run on one machine; run it again to have yours. A row without a bound informs.

"""


def markdown(machine: Mapping[str, str], rows: Sequence[Row]) -> str:
    """The page."""
    facts = "".join(f"* {name}: {value}\n" for name, value in machine.items())
    lines = ["| measured | asked | reached | | how |", "|---|---|---|---|---|"]
    lines += [f"| {row.name} | {row.asked} | {row.reached} | {row.verdict} | {row.detail} |" for row in rows]
    return _HEAD + facts + "\n" + "\n".join(lines) + "\n"


def as_json(machine: Mapping[str, str], rows: Sequence[Row], *, quick: bool) -> dict[str, object]:
    """Everything, for programs."""
    return {"machine": dict(machine), "quick": quick, "rows": [row.to_mapping() for row in rows]}
