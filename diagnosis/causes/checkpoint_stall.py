"""Checkpoints that hold the whole job up: too often, or for too long."""

from __future__ import annotations

from collections.abc import Sequence

from diagnosis import thresholds as limit
from diagnosis.cause import Case, Cause
from diagnosis.compare import sure
from diagnosis.rates import increase
from diagnosis.verdict import Evidence, Finding
from diagnosis.window import CHECKPOINT, Window, middle


class CheckpointStall(Cause):
    """Share of wall clock in the checkpoint phase, in more than one checkpoint or in a long one."""

    name = "checkpoint_stall"
    title = "The whole job stops to write checkpoints"
    confirm = "iostat -xz 1 on the checkpoint storage while one is written; its interval in the job's configuration"
    remedy = "Write them asynchronously, sharded or to local NVMe first; save less often than the mean time to failure."
    explains = ("sequence_imbalance", "gc_pause")

    def find(self, case: Case) -> Sequence[Finding]:
        """The stalls."""
        found = max((_stall(window) for window in (case.now, case.long)), key=lambda stall: stall[0])
        share, seconds, written = found
        if not share > limit.CHECKPOINT_SHARE_HIGH:
            return ()
        if not (written >= 2 or seconds / max(1.0, written) > limit.CHECKPOINT_SECONDS_HIGH):
            return ()
        evidence = (
            Evidence("share of wall clock in checkpoints", share, limit.CHECKPOINT_SHARE_HIGH, "ratio"),
            Evidence("checkpoints that ended", written, None, ""),
            Evidence("seconds in them", seconds, None, "s"),
        )
        step = case.step_seconds if case.step_seconds > 0 else case.long.step_seconds
        lost = share * step if step > 0 else 0.0
        confidence = sure(share, limit.CHECKPOINT_SHARE_HIGH)
        return (self.finding(evidence, seconds=lost, confidence=confidence, urgency=min(1.0, share)),)


def _stall(window: Window) -> tuple[float, float, float]:
    """Share of wall clock in checkpoints, seconds in them, and how many ended."""
    seconds = middle(increase(window.series.phase_seconds)[CHECKPOINT])
    written = window.grown("training_checkpoints_total")
    clock = middle(window.clock)
    share = seconds / clock if clock > 0 else 0.0
    return share, seconds, written if written > 0 else 0.0


CAUSES = (CheckpointStall(),)
