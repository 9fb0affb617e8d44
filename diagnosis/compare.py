"""Comparing ranks with their peers and a window with a better one before it."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from diagnosis import thresholds as limit
from diagnosis.cause import Case
from diagnosis.window import high, middle
from simulator.observation import Floats


def excess(values: Floats) -> Floats:
    """(R,) how much each value is above the median of all, as a ratio; NaN stays."""
    with np.errstate(invalid="ignore", divide="ignore"):
        beyond: Floats = values / middle(values) - 1.0
    return beyond


def grown_excess(values: Floats, before: Floats | None) -> Floats:
    """(R,) the same after taking out what each rank differed by before: chips differ, and stay different."""
    if before is None:
        return excess(values)
    with np.errstate(invalid="ignore", divide="ignore"):
        return excess(values / before)


def standing_out(values: Floats, *, least: float) -> NDArray[np.int64]:
    """Ranks that exceed the others by `least`, and by so many robust deviations that their spread cannot explain it."""
    spread = 1.4826 * middle(np.abs(values - middle(values)))
    with np.errstate(invalid="ignore"):
        return np.flatnonzero(values > middle(values) + max(least, limit.OUTLIER_DEVIATIONS * spread))


def persistent(pieces: list[Floats], ranks: NDArray[np.int64], *, least: float) -> NDArray[np.int64]:
    """Those of `ranks` whose value passes `least` in three of four pieces: chance hits another rank each time.

    Pieces in which nothing is known of a rank do not count.
    """
    if not pieces:
        return ranks
    chosen = np.array([piece[ranks] for piece in pieces])
    known = np.isfinite(chosen)
    with np.errstate(invalid="ignore"):
        share = (known & (chosen > least)).sum(axis=0) / np.maximum(1, known.sum(axis=0))
    kept: NDArray[np.int64] = ranks[share >= limit.PERSISTENT_SHARE]
    return kept


def chance(pieces: list[Floats]) -> float:
    """Standard error of a rank's mean over the pieces, as most ranks have it; 0 where it cannot be told.

    Batches of unequal work make every rank's value differ from piece to piece: of many ranks, one is always ahead.
    """
    known = np.array(pieces)
    if len(pieces) < 2 or not np.isfinite(known).all(axis=0).any():
        return 0.0
    spread = known[:, np.isfinite(known).all(axis=0)].std(axis=0, ddof=1)
    return float(np.median(spread)) / math.sqrt(len(pieces))


def rise(case: Case, now: float, before: float | None) -> float:
    """Seconds per step that something has grown by since the better window; all of it when there is none."""
    grown = now - (before if before is not None and np.isfinite(before) else 0.0)
    return float(max(0.0, grown)) if np.isfinite(grown) else 0.0


def sure(value: float, threshold: float) -> float:
    """Confidence of a value against the threshold that it passed: 0.6 at it, near 1 at three times as much."""
    if not (np.isfinite(value) and threshold > 0):
        return 0.6
    return float(min(0.99, 0.6 + 0.2 * (value / threshold - 1.0)))


def lead(values: Floats, ranks: NDArray[np.int64]) -> float:
    """How far the slowest of `ranks` is behind the slowest of all others: what mending them would save per step."""
    others = np.delete(values, ranks)
    others = others[np.isfinite(others)]
    if not len(others):
        return 0.0
    return float(max(0.0, high(values[ranks]) - others.max()))
