"""One thing that was asked for, and what came of it."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Row:
    """One measurement. A bound is what `value` must keep; a row without one only informs."""

    name: str
    value: float | None
    """None for what could not be measured here; `detail` says why."""
    unit: str
    """`×`, `%`, `ms`, `s`, `µs` or `MiB`."""
    at_least: float | None = None
    at_most: float | None = None
    below: float | None = None
    detail: str = ""
    """How it was measured, and what else was seen."""

    @property
    def verdict(self) -> str:
        """PASS or MISS; empty where nothing was asked, or nothing measured."""
        if self.value is None or not self.asked:
            return ""
        kept = (
            (self.at_least is None or self.value >= self.at_least)
            and (self.at_most is None or self.value <= self.at_most)
            and (self.below is None or self.value < self.below)
        )
        return "PASS" if kept else "MISS"

    @property
    def asked(self) -> str:
        """The bound, to read."""
        bounds = {"≥": self.at_least, "≤": self.at_most, "<": self.below}
        return ", ".join(f"{sign} {amount(bound, self.unit)}" for sign, bound in bounds.items() if bound is not None)

    @property
    def reached(self) -> str:
        """The value, to read."""
        return "not measured" if self.value is None else amount(self.value, self.unit)

    def to_mapping(self) -> dict[str, object]:
        """As JSON."""
        return {
            "name": self.name,
            "value": self.value,
            "unit": self.unit,
            "at_least": self.at_least,
            "at_most": self.at_most,
            "below": self.below,
            "verdict": self.verdict,
            "detail": self.detail,
        }


def amount(value: float, unit: str) -> str:
    """A number with its unit, in about three digits."""
    text = f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
    return f"{text} {unit}"


def spread(values: Sequence[float], unit: str) -> str:
    """Median and range of repeated measurements."""
    low, high = amount(min(values), unit), amount(max(values), unit)
    return f"median {amount(statistics.median(values), unit)}, {low} to {high}, {len(values)} runs"


def quantile(values: Sequence[float], share: float) -> float:
    """The smallest value that at least this share of the values does not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, max(0, -int(-share * len(ordered) // 1) - 1))]
