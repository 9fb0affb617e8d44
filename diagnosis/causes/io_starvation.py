"""Batches that come late from storage: on a different rank each step, on a node, or everywhere."""

from __future__ import annotations

from collections.abc import Sequence

from diagnosis import thresholds as limit
from diagnosis.cause import Case, Cause
from diagnosis.compare import sure
from diagnosis.lateness import at_boundaries, by_cpu, draining, lateness, mode_of
from diagnosis.verdict import Evidence, Finding
from diagnosis.window import low


class IoStarvation(Cause):
    """Data wait that has grown: what it costs, and on how many ranks at once, tells its mode."""

    name = "io_starvation"
    title = "Training data arrives late from storage"
    confirm = "iostat -xz 1 on the nodes; per-rank data wait against collective wait"
    remedy = "Cache the data on local NVMe, prefetch deeper, add loader workers; look at the storage's tail latency."
    takes = "input"

    def find(self, case: Case) -> Sequence[Finding]:
        """The starvation, its mode and, for a node or a fixed rank, whose."""
        late = lateness(case)
        if late is None:
            return self._draining(case)
        if at_boundaries(case):
            return ()
        mode, ranks = mode_of(case, late)
        step = case.step_seconds
        queue = case.now.queue_fill
        evidence = (
            Evidence("late batches cost per step", late.seconds, limit.INPUT_RISE * step, "s"),
            Evidence("ranks that are late in one step", late.at_once, None, ""),
            Evidence("loader queue, least full rank", low(queue), 1.0, "ratio"),
        )
        culprit = case.culprit(ranks, "node" if mode == "node" else "rank") if len(ranks) else None
        certainty = sure(late.seconds / step, limit.INPUT_RISE)
        if by_cpu(case, late, mode):
            certainty *= limit.SECOND_CHOICE
        return (self.finding(evidence, seconds=late.seconds, confidence=certainty, culprit=culprit, detail=mode),)

    def _draining(self, case: Case) -> Sequence[Finding]:
        """Queues that empty cost nothing yet, and will: deep prefetching only puts it off."""
        ranks = draining(case)
        if not len(ranks):
            return ()
        fill = case.now.queue_fill[ranks]
        evidence = (Evidence("loader queue, least full rank", low(fill), limit.QUEUE_DRAINED, "ratio"),)
        node = case.whole_nodes(ranks)
        culprit = case.culprit(ranks, "node") if node else None
        mode = "node" if node else "uniform"
        return (
            self.finding(evidence, confidence=0.7, culprit=culprit, urgency=0.1, detail=f"{mode}, queues draining"),
        )


CAUSES = (IoStarvation(),)
