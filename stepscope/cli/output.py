"""Numbers and tables for people, JSON for programs."""

from __future__ import annotations

import json
from collections.abc import Sequence

NOTHING = "–"


def print_json(value: object) -> None:
    """One JSON value, indented; the same value gives the same bytes."""
    print(json.dumps(value, indent=2, allow_nan=False))


def table(headings: Sequence[str], rows: Sequence[Sequence[str]], *, right: str = "", indent: str = "") -> str:
    """Aligned columns; `right` has one character per column, `>` where it is to be flush right."""
    sides = right.ljust(len(headings))
    widths = [max(len(row[column]) for row in (headings, *rows)) for column in range(len(headings))]
    lines = (
        "  ".join(
            cell.rjust(width) if side == ">" else cell.ljust(width)
            for cell, width, side in zip(row, widths, sides, strict=True)
        )
        for row in (headings, *rows)
    )
    return "\n".join(f"{indent}{line}".rstrip() for line in lines)


def share(value: float) -> str:
    """A ratio as a percentage."""
    return f"{100 * value:.1f} %"


def duration(seconds: float) -> str:
    """Seconds in the unit that suits them."""
    if seconds < 0.5e-6:
        return "0"
    if seconds < 0.001:
        return f"{seconds * 1e6:.0f} µs"
    if seconds < 1:
        return f"{seconds * 1e3:.4g} ms"
    return f"{seconds:.4g} s"


def quantity(value: float | None, digits: int = 4) -> str:
    """A number in few digits; a dash for none."""
    if value is None:
        return NOTHING
    return f"{value:,.0f}" if abs(value) >= 10_000 else f"{value:.{digits}g}"


def bar(value: float, *, width: int = 30) -> str:
    """A bar of up to `width` characters for a ratio."""
    return "█" * round(max(0.0, min(1.0, value)) * width)


def words(values: Sequence[object], *, most: int = 8) -> str:
    """Values with commas between them, cut where there are many."""
    shown = ", ".join(map(str, values[:most]))
    return shown + (f" and {len(values) - most} more" if len(values) > most else "") or NOTHING
