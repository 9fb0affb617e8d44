"""What a job of these ranks would have taken, had one thing been as it should: the what-if analysis of stragglers.

The ideal job is the one in which every rank computes as long as the mean rank (arXiv 2505.05713: operations of one
sort are idealised to their mean). The step follows its slowest rank, so T_ideal = T - (slowest own time - mean own
time), and what mending some ranks would save is the slowest own time that is left. S = T / T_ideal.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from diagnosis.ranks.table import COMPUTE, HOST, INPUT, OTHER, RankTimes
from simulator.observation import Floats


@dataclass(frozen=True, slots=True)
class WhatIf:
    """Seconds per step, means over the steps of a file. Shapes: S steps, R ranks."""

    step_seconds: float
    own: Floats
    """(S, R) time that a rank spends on its own work, pauses and late batches included."""
    compute: Floats
    """(S, R)"""
    ideal_seconds: float

    @property
    def slowdown(self) -> float:
        """S, at least 1."""
        return self.step_seconds / self.ideal_seconds

    @property
    def lost_seconds(self) -> float:
        """T - T_ideal."""
        return self.step_seconds - self.ideal_seconds

    def explained(self, chosen: NDArray[np.bool_]) -> float:
        """Share of the lost time that goes when these ranks alone take the mean time, 0-1."""
        if self.lost_seconds <= 0:
            return 0.0
        mended = np.where(chosen, self._mean(), self.own)
        saved = np.nanmean(np.fmax.reduce(self.own, axis=1) - np.fmax.reduce(mended, axis=1))
        return float(np.clip(saved / self.lost_seconds, 0.0, 1.0))

    def without(self, seconds: Floats) -> float:
        """Share of the lost time that goes when every rank spends none of these (S, R) seconds, 0-1."""
        if self.lost_seconds <= 0:
            return 0.0
        left = self.own - np.nan_to_num(seconds)
        saved = np.nanmean(np.fmax.reduce(self.own, axis=1) - np.fmax.reduce(left, axis=1))
        return float(np.clip(saved / self.lost_seconds, 0.0, 1.0))

    def _mean(self) -> Floats:
        mean: Floats = np.nanmean(self.own, axis=1, keepdims=True)
        return mean


def what_if(times: RankTimes) -> WhatIf:
    """The analysis of a file."""
    own = times.seconds[[COMPUTE, INPUT, HOST, OTHER]].sum(axis=0)
    slowest, mean = np.fmax.reduce(own, axis=1), np.nanmean(own, axis=1)
    step = float(np.nanmean(times.step_seconds))
    ideal = float(np.nanmean(times.step_seconds - (slowest - mean)))
    return WhatIf(step, own, times.seconds[COMPUTE], max(ideal, 1e-3 * step))
