"""A power limit that binds on some boards and not on their peers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from diagnosis import thresholds as limit
from diagnosis.cause import Case, Cause
from diagnosis.compare import excess, lead
from diagnosis.verdict import Evidence, Finding
from diagnosis.window import high, low, middle
from simulator.observation import THROTTLE_SW_POWER_CAP


class PowerCap(Cause):
    """The software power cap among the throttle reasons, with a clock below the peers' or below its own earlier one."""

    name = "power_cap"
    title = "A power limit holds the clocks of a GPU down"
    confirm = "nvidia-smi -q -d POWER,PERFORMANCE on that node: compare the current power limit with the default"
    remedy = "Restore the limit (nvidia-smi -pl), or find out which budget of the rack lowered it."
    takes = "work"

    def find(self, case: Case) -> Sequence[Finding]:
        """Boards whose limit binds, unless every board's always does."""
        now = case.now
        reasons = np.nan_to_num(now.series.gpu["DCGM_FI_DEV_CLOCK_THROTTLE_REASONS"]).astype(np.int64)
        capped = ((reasons & THROTTLE_SW_POWER_CAP) > 0).mean(axis=0) >= 0.5
        clock = now.gpu("DCGM_FI_DEV_SM_CLOCK")
        usual = np.full(len(clock), middle(clock))
        if case.before is not None:
            usual = np.fmax(usual, case.before.gpu("DCGM_FI_DEV_SM_CLOCK"))
        with np.errstate(invalid="ignore"):
            ranks = np.flatnonzero(capped & (clock < limit.CLOCK_BELOW_PEERS * usual))
        if not len(ranks):
            return ()
        power = now.gpu("DCGM_FI_DEV_POWER_USAGE")
        beyond = excess(now.compute)
        evidence = (
            Evidence("SM clock", low(clock[ranks]), high(usual), "MHz"),
            Evidence("power", high(power[ranks]), middle(power), "W"),
            Evidence("compute beyond the median of the peers", high(beyond[ranks]), 0.0, "ratio"),
        )
        everyone = len(ranks) == now.series.ranks
        cost = (now.compute.max() * (1 - low(clock / usual))) if everyone else lead(now.work, ranks)
        culprit = None if everyone else case.culprit(ranks)
        return (self.finding(evidence, seconds=float(cost), confidence=0.95, culprit=culprit, urgency=0.1),)


CAUSES = (PowerCap(),)
