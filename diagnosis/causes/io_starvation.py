"""Batches that come late from storage: on a different rank each step, on a node, or everywhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from diagnosis import thresholds as limit
from diagnosis.cause import Case, Cause
from diagnosis.compare import rise, sure
from diagnosis.verdict import Evidence, Finding
from diagnosis.window import low
from simulator.observation import Floats


@dataclass(frozen=True, slots=True)
class Lateness:
    """How late batches are, in seconds per step, and on how many ranks at once."""

    seconds: float
    """What it costs the job."""
    ranks: Floats
    """(R,) wait of each rank beyond its earlier one."""
    at_once: float
    """How many ranks are late in a step, in the mean."""

    @property
    def late(self) -> NDArray[np.int64]:
        """Ranks that are late for a good part of what it costs."""
        return np.flatnonzero(self.ranks > 0.5 * self.seconds)


def lateness(case: Case) -> Lateness | None:
    """Late batches of the window; None when they cost the job next to nothing."""
    now, before, step = case.now, case.before, case.step_seconds
    if not step > 0 or not np.isfinite(now.data_wait).any():
        return None
    usual = np.zeros(now.series.ranks) if before is None else np.nan_to_num(before.data_wait)
    ranks = np.maximum(0.0, np.nan_to_num(now.data_wait - usual) - limit.HANDOVER_SHARE * step)
    waited = None if before is None else low(before.communication + before.data_wait)
    waiting = rise(case, low(now.communication + now.data_wait), waited)
    seconds = min(float(ranks.sum()), waiting)
    threshold = limit.INPUT_BOUND if before is None else limit.INPUT_RISE
    if seconds <= threshold * step:
        return None
    return Lateness(seconds, ranks, float(ranks.sum()) / seconds)


class IoStarvation(Cause):
    """Data wait that has grown: what it costs, and on how many ranks at once, tells its mode."""

    name = "io_starvation"
    title = "Training data arrives late from storage"
    confirm = "iostat -xz 1 on the nodes; per-rank data wait against collective wait"
    remedy = "Cache the data on local NVMe, prefetch deeper, add loader workers; look at the storage's tail latency."

    def find(self, case: Case) -> Sequence[Finding]:
        """The starvation, its mode and, for a node or a fixed rank, whose."""
        late = lateness(case)
        if late is None:
            return self._draining(case)
        mode, ranks = _mode(case, late)
        step = case.step_seconds
        queue = case.now.queue_fill
        evidence = (
            Evidence("late batches cost per step", late.seconds, limit.INPUT_RISE * step, "s"),
            Evidence("ranks that are late in one step", late.at_once, None, ""),
            Evidence("loader queue, least full rank", low(queue), 1.0, "ratio"),
        )
        culprit = case.culprit(ranks, "node" if mode == "node" else "rank") if len(ranks) else None
        certainty = sure(late.seconds / step, limit.INPUT_RISE)
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


def draining(case: Case) -> NDArray[np.int64]:
    """Ranks of whole nodes whose loader queue is much emptier than before, and has not recovered within the window.

    A tail makes queues look emptier too, but at random.
    """
    nobody = np.array([], dtype=np.int64)
    if case.before is None or case.now.scrapes < limit.LEAST_SCRAPES_TREND:
        return nobody
    queue = case.now.series.rank["training_dataloader_queue_batches"]
    fill = case.now.queue_fill
    with np.errstate(invalid="ignore"):
        # A batch more or less is where in a step the scrape fell.
        falls = (np.diff(queue, axis=0) <= 1).all(axis=0) & (queue[-1] <= queue[0] - 1)
        empty = falls & (fill < limit.QUEUE_DRAINED * case.before.queue_fill)
    ranks = np.flatnonzero(empty)
    return ranks if len(ranks) == len(empty) or (len(ranks) and case.whole_nodes(ranks)) else nobody


def _mode(case: Case, late: Lateness) -> tuple[str, NDArray[np.int64]]:
    """tail, node, rank or uniform, and the ranks to name."""
    nobody = np.array([], dtype=np.int64)
    every = case.now.series.ranks
    if len(late.late) >= 0.8 * every and late.at_once > 0.5 * every:
        return "uniform", nobody
    if late.at_once > limit.LATE_AT_ONCE_TAIL and case.whole_nodes(late.late):
        return "node", late.late
    if 0 < len(late.late) <= 0.5 * every and late.ranks[late.late].sum() > 0.8 * late.ranks.sum():
        steps = case.now.steps
        # One late batch in a few steps is anybody's bad luck.
        if steps >= limit.LEAST_STEPS_TO_BLAME:
            return "same ranks", late.late
    return "tail", nobody


CAUSES = (IoStarvation(),)
