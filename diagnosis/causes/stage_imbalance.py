"""A pipeline stage with more to do than the others. Public series have no stages: only a file of times shows it."""

from __future__ import annotations

from collections.abc import Sequence

from diagnosis.cause import Case, Cause
from diagnosis.verdict import Finding


class StageImbalance(Cause):
    """Layers are dealt out by number, and the last stage has the loss on top."""

    name = "stage_imbalance"
    title = "A pipeline stage takes longer than the others on every worker"
    confirm = "per-stage forward and backward time on two workers: the same stage is long on both"
    remedy = "Move layers away from that stage, or give it fewer: the last one also computes logits and loss."

    def find(self, case: Case) -> Sequence[Finding]:
        """Nothing: the series of a run say no stages."""
        return ()


CAUSES = (StageImbalance(),)
