"""A job that stands still: no step ends, and everybody waits for somebody."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from diagnosis import thresholds as limit
from diagnosis.cause import Case, Cause
from diagnosis.rates import increase
from diagnosis.verdict import Evidence, Finding
from diagnosis.window import CHECKPOINT, COLLECTIVE, COLLECTIVE_WAIT, STALL, Window, middle


class Hang(Cause):
    """The last step is long past; who waits for nobody is who never arrived."""

    name = "hang"
    title = "No step ends any more: a rank never arrives at its collective"
    confirm = "py-spy dump --pid <trainer> on that rank; TORCH_NCCL_TRACE_BUFFER_SIZE and the flight recorder's dump"
    remedy = "Restart from the last checkpoint without that node; keep its stack traces and its kernel log."
    explains = (
        "straggler", "sequence_imbalance", "gc_pause", "network_tail_latency", "nccl_small_buffer", "nccl_algo",
        "io_starvation", "numa_misaffinity", "checkpoint_stall", "dataloader_cpu", "shard_boundary",
    )  # fmt: skip

    def find(self, case: Case) -> Sequence[Finding]:
        """The standstill, and the ranks that do not wait in the collective."""
        age = standing_seconds(case)
        if not age > limit.NO_PROGRESS_SECONDS + limit.NO_PROGRESS_STEPS * _usual_step(case):
            return ()
        recent = Window(case.now.series.part(case.now.series.times[-1] - age, case.now.series.times[-1]))
        grown = increase(recent.series.phase_seconds)
        clock = np.nansum(grown, axis=0)
        with np.errstate(invalid="ignore", divide="ignore"):
            waits = np.nan_to_num(grown[[COLLECTIVE_WAIT, COLLECTIVE]]).sum(axis=0) / clock
            stalls = np.nan_to_num(grown[STALL]) / clock
            writes = np.nan_to_num(grown[CHECKPOINT]) / clock
        if middle(writes) > limit.PHASE_HUNG / 2:
            return ()
        missing = np.flatnonzero((stalls > 0.5) & (waits < 0.5))
        some = 0 < len(missing) < case.now.series.ranks
        util = case.now.gpu_last("DCGM_FI_DEV_GPU_UTIL")
        evidence = (
            Evidence("age of the last step", age, limit.NO_PROGRESS_SECONDS, "s"),
            Evidence("share of time in collectives, median rank", middle(waits), limit.PHASE_HUNG, "ratio"),
            Evidence("GPU utilization", middle(util), None, "%"),
        )
        culprit = case.culprit(missing) if some else None
        return (self.finding(evidence, confidence=0.95 if some else 0.8, culprit=culprit, urgency=1.0),)


def standing_seconds(case: Case) -> float:
    """Time since the last step ended, by the newest scrape at which the run itself was seen; NaN when unknown."""
    series = case.now.series
    last = series.single["training_last_step_timestamp_seconds"]
    known = np.flatnonzero(np.isfinite(last))
    return float(series.times[known[-1]] - last[known[-1]]) if len(known) else float("nan")


def _usual_step(case: Case) -> float:
    for window in (case.before, case.now, case.long):
        if window is not None and window.step_seconds > 0:
            return window.step_seconds
    return 0.0


CAUSES = (Hang(),)
