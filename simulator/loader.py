"""The data loader of every rank: a queue that workers fill and steps empty.

A rank waits `max(0, time its batch is ready - time it is needed)`. Workers deliver one batch per `service / workers`
seconds into a queue of `workers × prefetch` batches, so a slow loader starves the rank only when it is slower than the
step, and a stall is absorbed while it is shorter than the queue is long.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from faults.effects import Effects, LateBatch
from simulator.job import Loader
from simulator.observation import Floats
from simulator.streams import FaultStreams, uniform_rows


class LoaderQueue:
    """State of all ranks' queues. Times are seconds since the run began; arrays have shape (R,)."""

    def __init__(self, loader: Loader, *, ranks: int, healthy_step_seconds: float, full: bool = True) -> None:
        self._loader = loader
        self._healthy_step = healthy_step_seconds
        self._level = np.full(ranks, float(loader.capacity_batches) if full else 0.0)
        self._taken_at = np.zeros(ranks)
        self._late = FaultStreams("late batch", uniform_rows)
        self.ranks = ranks

    def period_seconds(self, effects: Effects) -> Floats:
        """Least time between two batches of each rank that workers deliver."""
        own = self._loader.service_seconds * effects.worker_slowdown / max(1, self._loader.workers)
        return np.maximum(own, effects.batch_period_steps * self._healthy_step)

    def _loading_seconds(self, effects: Effects) -> Floats:
        """Time that each rank loads in the open, without workers: what a fault adds to the period comes on top."""
        added = np.maximum(0.0, effects.batch_period_steps - 1.0) * self._healthy_step
        return self._loader.service_seconds * effects.worker_slowdown + added

    def never_waits(self, effects: Effects, shortest_step_seconds: float) -> bool:
        """Whether no step of at least this length can find a queue empty, so that steps need not be taken singly."""
        if effects.late_batches or self._loader.workers == 0:
            return False
        return bool(self._level.min() >= 1.0 and shortest_step_seconds >= self.period_seconds(effects).max())

    def take(self, step: int, *, at_seconds: float, effects: Effects) -> Floats:
        """Take the batch of one step that starts at `at_seconds`; each rank's wait in seconds."""
        period = self.period_seconds(effects)
        dequeue = self._loader.dequeue_seconds
        if self._loader.workers == 0:
            waits = self._loading_seconds(effects) + dequeue
        else:
            ready = np.minimum(
                self._loader.capacity_batches, self._level + np.maximum(0.0, at_seconds - self._taken_at) / period
            )
            missing = np.maximum(0.0, 1.0 - ready)
            self._level = np.maximum(ready, 1.0) - 1.0
            waits = missing * period + dequeue
        for late in _due(effects.late_batches, step):
            waits[self._late_rank(late, step)] += late.lateness_steps * self._healthy_step
        self._taken_at = at_seconds + waits - dequeue
        return waits

    def take_without_waiting(self, starts: Floats, effects: Effects) -> None:
        """Take one batch for each of these step starts, all of which `never_waits` has cleared."""
        period = self.period_seconds(effects)
        capacity = self._loader.capacity_batches
        for start in starts.tolist():
            self._level = np.minimum(capacity, self._level + (start - self._taken_at) / period) - 1.0
            self._taken_at = np.full(self.ranks, start)

    def visible_batches(self, next_step: int, *, at_seconds: float, effects: Effects) -> Floats:
        """Batches that each rank could take now, in order: none behind one that is still being read."""
        capacity = self._loader.capacity_batches
        if capacity == 0:
            return np.zeros(self.ranks)
        waited = np.maximum(0.0, at_seconds - self._taken_at)
        visible = np.minimum(capacity, self._level + waited / self.period_seconds(effects))
        for ahead in range(capacity):
            for late in _due(effects.late_batches, next_step + ahead):
                rank = self._late_rank(late, next_step + ahead)
                visible[rank] = min(visible[rank], float(ahead))
        return np.floor(visible)

    def _late_rank(self, late: LateBatch, step: int) -> int:
        """The rank whose batch is late in this step, drawn from the fault's own stream."""
        draw = float(self._late.rows(late.fault, late.seed, step, 1)[0, 0])
        return int(late.ranks[int(draw * len(late.ranks))])


def _due(late_batches: Sequence[LateBatch], step: int) -> list[LateBatch]:
    """Those of which one falls on this step."""
    return [late for late in late_batches if step % late.every_steps == 0]
