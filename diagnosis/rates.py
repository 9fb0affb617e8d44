"""Differences of counters over a few scrapes, some of which may be missing."""

from __future__ import annotations

import warnings

import numpy as np

from simulator.observation import Floats


def increase(samples: Floats) -> Floats:
    """How much counters grew over the first axis, resets and gaps allowed for; NaN with fewer than two samples.

    Shape (N, …) in, (…) out. Nothing is extrapolated: what lies before the first sample and after the last is left out.
    """
    if len(samples) < 2:
        return np.full(samples.shape[1:], np.nan)
    filled = carried(samples)
    steps = np.diff(filled, axis=0)
    # After a reset the whole new value has accrued since.
    steps = np.where(steps < 0, filled[1:], steps)
    grown: Floats = np.nansum(steps, axis=0)
    return np.where(np.count_nonzero(~np.isnan(samples), axis=0) >= 2, grown, np.nan)


def carried(samples: Floats) -> Floats:
    """Each sample that is missing replaced by the one before it; NaN stays where there is none before."""
    missing = np.isnan(samples)
    if not missing.any():
        return samples
    shape = (-1, *([1] * (samples.ndim - 1)))
    place = np.where(missing, 0, np.arange(len(samples)).reshape(shape))
    np.maximum.accumulate(place, axis=0, out=place)
    filled: Floats = np.take_along_axis(samples, place, axis=0)
    return filled


def mean(samples: Floats) -> Floats:
    """Mean over the first axis of what is there; NaN where nothing is."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        value: Floats = np.nanmean(samples, axis=0) if len(samples) else np.full(samples.shape[1:], np.nan)
    return value


def last(samples: Floats) -> Floats:
    """The newest sample that is there; NaN where none is."""
    if not len(samples):
        return np.full(samples.shape[1:], np.nan)
    newest: Floats = carried(samples)[-1]
    return newest


def ratio(above: float, below: float) -> float:
    """above / below; NaN when `below` is nothing."""
    return above / below if below > 0 else float("nan")
