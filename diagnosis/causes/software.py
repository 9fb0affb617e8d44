"""Software that stalls: pauses of the process, batches of uneven work; another rank each time, so nobody is named."""

from __future__ import annotations

from collections.abc import Sequence

from diagnosis import thresholds as limit
from diagnosis.cause import Case, Cause
from diagnosis.compare import sure
from diagnosis.verdict import Evidence, Finding
from diagnosis.waiting import Waiting, unexplained


class GcPause(Cause):
    """Waiting on all ranks, with time added to the computing of whoever pauses, whose GPU idles meanwhile."""

    name = "gc_pause"
    title = "Training processes pause, another one each time, and all others wait"
    confirm = "py-spy dump --pid <trainer> during a long step; gc.callbacks to time Python's collector"
    remedy = "Disable the automatic collector (gc.disable) and collect on all ranks at the same step."
    takes = "waiting"

    def find(self, case: Case) -> Sequence[Finding]:
        """The pauses."""
        waiting = unexplained(case)
        if waiting is None or not _pauses(waiting):
            return ()
        return (_finding(self, case, waiting),)


class SequenceImbalance(Cause):
    """Waiting on all ranks while each computes as long as before in the mean: only dealt out unevenly."""

    name = "sequence_imbalance"
    title = "Batches take uneven work, another rank the most in each step"
    confirm = "tokens squared per sequence and rank of a step, against the rank that was slowest"
    remedy = "Balance the batches by work (sum of squared sequence lengths), not by count; pack sequences."
    takes = "waiting"

    def find(self, case: Case) -> Sequence[Finding]:
        """The unevenness."""
        waiting = unexplained(case)
        if waiting is None or _pauses(waiting):
            return ()
        return (_finding(self, case, waiting),)


def _pauses(waiting: Waiting) -> bool:
    certain = waiting.deviations > limit.PAUSE_DEVIATIONS and waiting.added > limit.PAUSE_COMPUTE_SHARE
    return waiting.dips > 0 or certain


def _finding(cause: Cause, case: Case, waiting: Waiting) -> Finding:
    step = case.step_seconds
    evidence = (
        Evidence("waiting of the rank that waits least, above before", waiting.seconds, limit.WAIT_RISE * step, "s"),
        Evidence("growth of compute over that of the waiting", waiting.added, limit.PAUSE_COMPUTE_SHARE, "ratio"),
        Evidence("readings that show a GPU idle for a moment", waiting.dips, 0.0, "ratio"),
    )
    return cause.finding(evidence, seconds=waiting.seconds, confidence=sure(waiting.seconds / step, limit.WAIT_RISE))


CAUSES = (GcPause(), SequenceImbalance())
