"""Waiting in collectives that no fixed rank, no late batch and no slow transfer explains."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from diagnosis import thresholds as limit
from diagnosis.cause import Case
from diagnosis.compare import rise
from diagnosis.lateness import lateness
from diagnosis.window import CHECKPOINT, COLLECTIVE_WAIT, Window, high, low, middle
from simulator.observation import Floats


@dataclass(frozen=True, slots=True)
class Waiting:
    """Seconds per step, against the better window."""

    seconds: float
    """Rise of the waiting of the rank that waits least: whoever is slow by habit waits for nobody."""
    added: float
    """Rise of the mean compute over that of the waiting: 0 where work is only dealt out unevenly."""
    deviations: float
    """How many standard errors that growth of compute is: ranks differ by what they were dealt."""
    dips: float
    """Share of the readings of GPU utilization that show a GPU idle for a moment."""


def unexplained(case: Case) -> Waiting | None:
    """That waiting, once it is worth a word; None where it is not, or where nobody tells waiting from transferring."""
    now, before, step = case.now, case.before, case.step_seconds
    if before is None or not step > 0 or not now.splits_waiting:
        return None
    seconds = rise(case, low(now.phases[COLLECTIVE_WAIT]), low(before.phases[COLLECTIVE_WAIT]))
    late = lateness(case, least=0.0)
    explained = late.seconds if late is not None else 0.0
    seconds -= explained
    # A rank that is slow now and then waits for its peers in between.
    explained += max(0.0, high(now.work) - middle(now.work))
    if not seconds > max(limit.WAIT_RISE * step, limit.EXPLAINED_WITHIN * explained):
        return None
    added = rise(case, _mean(now.compute), _mean(before.compute))
    return Waiting(seconds, added / seconds, _deviations(now.compute, before.compute), _dips(now))


def _mean(values: Floats) -> float:
    known = values[np.isfinite(values)]
    return float(known.mean()) if len(known) else float("nan")


def _deviations(now: Floats, before: Floats) -> float:
    grown = now - before
    grown = grown[np.isfinite(grown)]
    error = float(grown.std()) / np.sqrt(max(1, len(grown)))
    return float(grown.mean()) / error if len(grown) > 1 and error > 0 else 0.0


def _dips(window: Window) -> float:
    """A GPU also idles while it waits for data or writes a checkpoint: then nothing can be said, and none counts."""
    idle = middle(window.data_wait + window.phases[CHECKPOINT]) / window.step_seconds
    util = window.series.gpu["DCGM_FI_DEV_GPU_UTIL"]
    known = np.isfinite(util)
    if idle > 1.0 - limit.UTIL_DIP_PERCENT / 100.0 or not known.any():
        return float("nan")
    dips = known & (util < limit.UTIL_DIP_PERCENT)
    # What stops most of them at once is a checkpoint, and no pause.
    dips[dips.sum(axis=1) > 0.5 * known.sum(axis=1)] = False
    return float(dips.sum() / known.sum())
