"""A job that stands still: no step ends, and everybody waits for somebody."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from diagnosis import thresholds as limit
from diagnosis.cause import Case, Cause
from diagnosis.rates import increase
from diagnosis.standing import down, standing_seconds, stands
from diagnosis.verdict import Evidence, Finding
from diagnosis.window import CHECKPOINT, COLLECTIVE, COLLECTIVE_WAIT, STALL, Window, high, middle
from simulator.observation import Floats


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
        if not stands(case) or down(case):
            return ()
        age = standing_seconds(case)
        recent = Window(case.now.series.part(case.now.series.times[-1] - age, case.now.series.times[-1]))
        grown = increase(recent.series.phase_seconds)
        clock = np.nansum(grown, axis=0)
        with np.errstate(invalid="ignore", divide="ignore"):
            waits = np.nan_to_num(grown[[COLLECTIVE_WAIT, COLLECTIVE]]).sum(axis=0) / clock
            stalls = np.nan_to_num(grown[STALL]) / clock
            writes = np.nan_to_num(grown[CHECKPOINT]) / clock
        if middle(writes) > limit.PHASE_HUNG / 2:
            return ()
        ended = _ended(case)
        missing = _some(np.flatnonzero((stalls > 0.5) & (waits < 0.5)), case)
        if not len(missing):
            missing = ended if len(ended) else _some(_outside(recent, waits), case)
        evidence = (
            Evidence("age of the last step", age, limit.NO_PROGRESS_SECONDS, "s"),
            Evidence("share of time in collectives, median rank", middle(waits), limit.PHASE_HUNG, "ratio"),
            Evidence("share of time in collectives, missing rank", high(waits[missing]), middle(waits), "ratio"),
            Evidence("ranks whose series have ended", float(len(ended)) if len(ended) else np.nan, 0.0, ""),
            Evidence("GPU utilization", middle(case.now.gpu_last("DCGM_FI_DEV_GPU_UTIL")), None, "%"),
        )
        some = bool(len(missing))
        culprit = case.culprit(missing) if some else None
        return (
            self.finding(evidence, confidence=0.95 if some else 0.8, culprit=culprit, urgency=1.0, stands_still=True),
        )


def _some(ranks: NDArray[np.int64], case: Case) -> NDArray[np.int64]:
    """These, unless they are all."""
    return ranks if len(ranks) < case.now.series.ranks else ranks[:0]


def _outside(recent: Window, waits: Floats) -> NDArray[np.int64]:
    """Ranks that hardly progress in a collective while at least as many others do nothing else.

    By phases, or by the time in collectives: a rank that waits in its backward pass shows only the latter.
    """
    inside = np.fmax(
        waits, increase(recent.series.rank["training_collective_seconds_total"]) / max(recent.seconds, 1.0)
    )
    known = np.isfinite(inside)
    with np.errstate(invalid="ignore"):
        stuck = np.flatnonzero(known & (inside > 0.5))
        out = np.flatnonzero(known & (inside < limit.PHASE_OUTSIDE))
    return out if len(out) <= len(stuck) else out[:0]


def _ended(case: Case) -> NDArray[np.int64]:
    """Ranks that were seen, and are not any more, on nodes that still answer, while others are seen."""
    series = case.history
    seen: NDArray[np.bool_] = np.asarray(np.isfinite(series.phase_seconds).any(axis=1))
    newest = slice(-limit.LEAST_SCRAPES, None)
    answers = ~(series.up[newest][:, series.node_of] == 0.0).any(axis=0)
    if not seen[newest].any():
        return np.array([], dtype=np.int64)
    return np.flatnonzero(seen.any(axis=0) & ~seen[newest].any(axis=0) & answers)


CAUSES = (Hang(),)
