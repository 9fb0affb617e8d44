"""Boards that fail: gone from the bus, or with memory errors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from diagnosis import thresholds as limit
from diagnosis.cause import Case, Cause
from diagnosis.rates import increase, last
from diagnosis.standing import stands
from diagnosis.verdict import Evidence, Finding
from diagnosis.window import Window
from simulator.observation import Floats

_STANDSTILL = ("hang", "straggler", "sequence_imbalance", "gc_pause")


class GpuLost(Cause):
    """A board without any reading on a node that answers."""

    name = "gpu_lost"
    title = "A GPU has fallen off the bus"
    confirm = "nvidia-smi -L and dmesg -T | grep -i xid on that node: XID 79"
    remedy = "Cordon the node, power-cycle it, and restart the job from the last checkpoint without it."
    explains = _STANDSTILL

    def find(self, case: Case) -> Sequence[Finding]:
        """The boards that are gone."""
        ranks = gone(case.now)
        if not len(ranks):
            return ()
        missing = len(ranks)
        evidence = (Evidence("GPUs that give no reading on nodes that answer", float(missing), 0.0, ""),)
        return (
            self.finding(
                evidence, confidence=0.95, culprit=case.culprit(ranks), urgency=1.0, stands_still=stands(case)
            ),
        )


def gone(window: Window) -> NDArray[np.int64]:
    """Boards that gave no reading at the newest scrapes, on nodes that answered, while other boards gave some."""
    series = window.series
    newest = slice(-limit.LEAST_SCRAPES, None)
    readings = np.array([series.gpu[name][newest] for name in ("DCGM_FI_DEV_GPU_UTIL", "DCGM_FI_DEV_POWER_USAGE")])
    silent = np.isnan(readings).all(axis=(0, 1))
    answers = ~(series.up[newest][:, series.node_of] == 0.0).any(axis=0)
    told = (series.gpu_up[newest] == 0.0).all(axis=0)
    clock = np.isfinite(series.phase_seconds[newest]).any(axis=(0, 1))
    if silent.all() and not told.any():
        # Nobody reads boards here at all.
        return np.array([], dtype=np.int64)
    return np.flatnonzero(silent & answers & (told | clock))


class EccError(Cause):
    """Rows of memory that were remapped, or an XID of memory, new within what is known of the run."""

    name = "ecc_error"
    title = "A GPU has memory errors"
    confirm = "nvidia-smi -q -d ECC,ROW_REMAPPER and dmesg -T | grep -i xid on that node: XID 48, 63, 64, 94 or 95"
    remedy = "Drain the node and reset the GPU, so that the remapped rows take effect; replace it if they come again."
    explains = _STANDSTILL

    def find(self, case: Case) -> Sequence[Finding]:
        """The boards with new errors."""
        series = case.history
        grown = np.nan_to_num(increase(series.gpu["DCGM_FI_DEV_CORRECTABLE_REMAPPED_ROWS"]))
        lost = np.nan_to_num(increase(series.gpu["DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS"]))
        codes = _new_codes(series.gpu["DCGM_FI_DEV_XID_ERRORS"])
        ranks = np.flatnonzero((grown > 0) | (lost > 0) | np.isin(codes, limit.XIDS_OF_MEMORY))
        if not len(ranks):
            return ()
        evidence = (
            Evidence("rows remapped after correctable errors", float(grown[ranks].max()), 0.0, "rows"),
            Evidence("rows remapped after uncorrectable errors", float(lost[ranks].max()), 0.0, "rows"),
            Evidence("last XID", float(np.nanmax(codes[ranks])), None, ""),
        )
        stopped = not case.now.step_seconds > 0
        urgency = 1.0 if stopped else 0.3
        return (
            self.finding(
                evidence, confidence=0.95, culprit=case.culprit(ranks), urgency=urgency, stands_still=stands(case)
            ),
        )


def _new_codes(xid: Floats) -> Floats:
    """(R,) last XID of each board where it has changed since the first sample, 0 elsewhere: it sticks for ever."""
    if not len(xid):
        return np.zeros(xid.shape[1:])
    first, newest = last(xid[::-1]), last(xid)
    return np.where(np.isfinite(newest) & (newest != first), newest, 0.0)


CAUSES = (GpuLost(), EccError())
