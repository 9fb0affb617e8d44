"""The data loader itself: workers without CPU, and shards that are opened too late."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from diagnosis import thresholds as limit
from diagnosis.cause import Case, Cause
from diagnosis.compare import sure
from diagnosis.lateness import at_boundaries, by_cpu, lateness, long_steps, mode_of
from diagnosis.verdict import Evidence, Finding
from diagnosis.window import low


class DataloaderCpu(Cause):
    """One node's batches are late by whole steps. Public series do not tell it from that node's storage for certain."""

    name = "dataloader_cpu"
    title = "The data loader's workers get too little CPU"
    confirm = "mpstat -P ALL 1 and py-spy top on a worker of that node; iostat -xz 1: latencies as ever"
    remedy = "More workers (num_workers), more cores for the job's cgroup, decoding off the critical path."
    takes = "input"

    def find(self, case: Case) -> Sequence[Finding]:
        """The starvation of one node, where storage is not the likelier reason."""
        late = lateness(case)
        if late is None or at_boundaries(case):
            return ()
        mode, ranks = mode_of(case, late)
        alone = len(case.now.series.nodes) == 1 and mode == "uniform"
        if not (mode == "node" or alone):
            return ()
        first = by_cpu(case, late, mode)
        step = case.step_seconds
        evidence = (
            Evidence("late batches cost per step", late.seconds, limit.INPUT_RISE * step, "s"),
            Evidence("loader queue, least full rank", low(case.now.queue_fill), 1.0, "ratio"),
        )
        certainty = sure(late.seconds / step, limit.INPUT_RISE) * (1.0 if first else limit.SECOND_CHOICE)
        culprit = case.culprit(ranks, "node") if len(ranks) else None
        return (self.finding(evidence, seconds=late.seconds, confidence=certainty, culprit=culprit),)


class ShardBoundary(Cause):
    """A few long steps that hold all the lateness, another rank's each time."""

    name = "shard_boundary"
    title = "Batches come late where a rank opens a new shard, and everybody waits"
    confirm = "step time against step index: the long ones stand at equal distances"
    remedy = "Open the next shard before the last one ends; stagger the boundaries over the ranks; larger shards."
    takes = "input"

    def find(self, case: Case) -> Sequence[Finding]:
        """The stalls."""
        if not at_boundaries(case) or case.before is None:
            return ()
        late = lateness(case, least=0.0)
        window = case.now if late is not None and late.seconds > 0 else case.long
        few, steps = long_steps(window, case.before)
        seconds = float(np.maximum(0.0, np.nan_to_num(window.data_wait - case.before.data_wait)).sum())
        evidence = (
            Evidence("long steps", few, None, "steps"),
            Evidence("of all steps", steps, None, "steps"),
            Evidence("lateness per step, in the mean", seconds, None, "s"),
        )
        confidence = 0.9 if few >= 2 else 0.7
        return (self.finding(evidence, seconds=seconds, confidence=confidence, urgency=0.1),)


CAUSES = (DataloaderCpu(), ShardBoundary())
