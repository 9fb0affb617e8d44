"""Cooling that fails: a board that is hotter than its power explains, and holds its clocks down once it is too hot."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from diagnosis import thresholds as limit
from diagnosis.cause import Case, Cause
from diagnosis.compare import excess, lead, sure
from diagnosis.verdict import Evidence, Finding
from diagnosis.window import Window, high, middle
from simulator.observation import Floats

_THERMAL_BITS = 0x20 | 0x40


class ThermalThrottle(Cause):
    """Throttle bits or the violation counter say that it throttles; temperature per watt says that it will."""

    name = "thermal_throttle"
    title = "A GPU is not cooled well enough"
    confirm = "nvidia-smi -q -d PERFORMANCE,TEMPERATURE on that node"
    remedy = "Clean filters and fans, check the airflow of that slot; until then cordon the node and restart."
    takes = "work"

    def find(self, case: Case) -> Sequence[Finding]:
        """Boards that throttle, and boards that are hot for what they draw."""
        now = case.now
        throttled = throttling(now)
        hot = np.union1d(throttled, _hot(case))
        if not len(hot):
            return ()
        temperature = now.gpu_last("DCGM_FI_DEV_GPU_TEMP")
        rate = now.gpu_grown("DCGM_FI_DEV_THERMAL_VIOLATION") / 1e9
        beyond = excess(now.compute)
        evidence = (
            Evidence("temperature", high(temperature[hot]), middle(temperature), "°C"),
            Evidence("share of time with clocks held down", high(rate[hot]), limit.THROTTLED_HIGH, "ratio"),
            Evidence("compute beyond the median of the peers", high(beyond[hot]), 0.0, "ratio"),
        )
        cost = lead(now.work, hot) if len(throttled) else 0.0
        rise = high(temperature[hot]) - middle(temperature)
        return (
            self.finding(
                evidence,
                seconds=cost,
                confidence=0.97 if len(throttled) else sure(rise, limit.HOTTER_CELSIUS),
                culprit=case.culprit(hot),
                urgency=0.3 if len(throttled) else 0.1,
                detail="" if len(throttled) else "hot, not throttling yet",
            ),
        )


def throttling(window: Window) -> NDArray[np.int64]:
    """Boards whose clocks temperature has held down within the window."""
    rate = window.gpu_grown("DCGM_FI_DEV_THERMAL_VIOLATION") / 1e9
    reasons = np.nan_to_num(window.series.gpu["DCGM_FI_DEV_CLOCK_THROTTLE_REASONS"]).astype(np.int64)
    bits = ((reasons & _THERMAL_BITS) > 0).mean(axis=0) >= 0.5
    with np.errstate(invalid="ignore"):
        return np.flatnonzero((rate > limit.THROTTLED_HIGH) | bits)


def _hot(case: Case) -> NDArray[np.int64]:
    now = _last_reading(case.now)
    power = case.now.gpu("DCGM_FI_DEV_POWER_USAGE")
    with np.errstate(invalid="ignore", divide="ignore"):
        if case.before is None:
            per_watt = (now - limit.INLET_CELSIUS) / power
            hot = per_watt > limit.KELVIN_PER_WATT_HIGH * middle(per_watt)
        else:
            rise = now - case.before.gpu("DCGM_FI_DEV_GPU_TEMP")
            # A job that has just begun warms all of its boards.
            rise = rise - max(0.0, middle(rise))
            same = power < limit.POWER_SAME * case.before.gpu("DCGM_FI_DEV_POWER_USAGE")
            hot = (rise > limit.HOTTER_CELSIUS) & same
    return np.flatnonzero(hot)


def _last_reading(window: Window) -> Floats:
    return window.gpu_last("DCGM_FI_DEV_GPU_TEMP")


CAUSES = (ThermalThrottle(),)
