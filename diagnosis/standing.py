"""Whether a job stands still, and whether it is not even there: a job that is started again hangs nowhere."""

from __future__ import annotations

import numpy as np

from diagnosis import thresholds as limit
from diagnosis.cause import Case
from diagnosis.rates import increase
from diagnosis.window import COLLECTIVE, COLLECTIVE_WAIT, STALL


def standing_seconds(case: Case) -> float:
    """Time since the last step ended, by the newest scrape at which the run itself was seen; NaN when unknown."""
    series = case.now.series
    last = series.single["training_last_step_timestamp_seconds"]
    known = np.flatnonzero(np.isfinite(last))
    return float(series.times[known[-1]] - last[known[-1]]) if len(known) else float("nan")


def stands(case: Case) -> bool:
    """Whether the last step is longer past than any step, checkpoint or stall of a healthy job lasts."""
    return standing_seconds(case) > limit.NO_PROGRESS_SECONDS + limit.NO_PROGRESS_STEPS * _usual_step(case)


def down(case: Case) -> bool:
    """Whether it stands because nobody runs it: at the end every rank is outside of any step, and every GPU idle.

    The newest interval alone decides: a job that hung until it was stopped is down from then on. A rank that nobody
    has seen in it does not count, nor does a GPU without readings.
    """
    series = case.now.series
    if not stands(case):
        return False
    grown = increase(series.phase_seconds[-limit.LEAST_SCRAPES :])
    clock = np.nansum(grown, axis=0)
    seen = clock > 0
    outside = np.nan_to_num(grown[STALL])[seen] > limit.PHASE_HUNG * clock[seen]
    inside = np.nan_to_num(grown[[COLLECTIVE_WAIT, COLLECTIVE]]).sum(axis=0)
    moved = np.nan_to_num(increase(series.rank["training_collective_seconds_total"][-limit.LEAST_SCRAPES :]))
    busy = series.gpu["DCGM_FI_DEV_GPU_UTIL"][-1:] > limit.UTIL_BUSY_PERCENT
    return bool(seen.any() and outside.all() and not (inside > 0).any() and not (moved > 0).any() and not busy.any())


def _usual_step(case: Case) -> float:
    for window in (case.before, case.now, case.long):
        if window is not None and window.step_seconds > 0:
            return window.step_seconds
    return 0.0
