"""What an oracle is: a published number, how far the model may be from it, and how to find out how far it is."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

DATA = Path(__file__).resolve().parent.parent / "data"


@dataclass(frozen=True, slots=True)
class Oracle:
    """One claim about the model that published data can refute."""

    name: str
    what: str
    """What is measured."""
    source: str
    measure: Callable[[], float]
    """The number that the model reaches, in `unit`."""
    low: float = -math.inf
    high: float = math.inf
    unit: str = ""
    digits: int = 2
    """Decimals that are worth printing."""
    miss: str = ""
    """Why the model does not reach it; then the test demands that it still does not."""

    @property
    def asked(self) -> str:
        """The limits in words."""
        if self.low == self.high:
            return f"exactly {self._number(self.high)}"
        if self.low == -math.inf:
            return f"at most {self._number(self.high)}"
        if self.high == math.inf:
            return f"at least {self._number(self.low)}"
        return f"{self.low:,.{self._fewest(self.low)}f} to {self._number(self.high)}"

    @property
    def reached(self) -> str:
        """The measured number, printed."""
        return f"{self.measure():,.{self.digits}f} {self.unit}".rstrip()

    def holds(self) -> bool:
        """Whether the model is within the limits."""
        return self.low <= self.measure() <= self.high

    def _number(self, value: float) -> str:
        return f"{value:,.{self._fewest(value)}f} {self.unit}".rstrip()

    def _fewest(self, value: float) -> int:
        """As few decimals as show the value, up to those that are printed anyway."""
        return next(
            d for d in range(self.digits + 1) if d == self.digits or round(value, d) == round(value, self.digits)
        )


@cache
def rows(name: str) -> tuple[dict[str, str], ...]:
    """The rows of a file in tests/data."""
    with (DATA / name).open(encoding="utf-8", newline="") as file:
        return tuple(csv.DictReader(file))


def column(name: str, key: str) -> tuple[float, ...]:
    """One column of such a file as numbers; empty cells are left out."""
    return tuple(float(row[key]) for row in rows(name) if row[key])
