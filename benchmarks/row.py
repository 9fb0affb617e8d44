"""One thing that was asked for, and what came of it."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Row:
    """One measurement. `asked` is the bound that `value` must keep; a row without one only informs."""

    name: str
    value: float
    unit: str
    """`×`, `ms`, `s` or `MiB`."""
    at_least: float | None = None
    below: float | None = None
    detail: str = ""
    """How it was measured, and what else was seen."""

    @property
    def verdict(self) -> str:
        """PASS or MISS; empty where nothing was asked."""
        if self.at_least is not None:
            return "PASS" if self.value >= self.at_least else "MISS"
        if self.below is not None:
            return "PASS" if self.value < self.below else "MISS"
        return ""

    @property
    def asked(self) -> str:
        """The bound, to read."""
        if self.at_least is not None:
            return f"≥ {amount(self.at_least, self.unit)}"
        return f"< {amount(self.below, self.unit)}" if self.below is not None else ""

    @property
    def reached(self) -> str:
        """The value, to read."""
        return amount(self.value, self.unit)

    def to_mapping(self) -> dict[str, object]:
        """As JSON."""
        return {
            "name": self.name,
            "value": self.value,
            "unit": self.unit,
            "at_least": self.at_least,
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
