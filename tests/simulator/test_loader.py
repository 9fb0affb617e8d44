"""The laws of the data loader: who waits, when, and for how long."""

from __future__ import annotations

import numpy as np
import pytest

from faults.effects import Effects, LateBatch, Topology
from simulator.job import Loader
from simulator.loader import LoaderQueue

STEP = 0.1


def effects(ranks: int = 2) -> Effects:
    return Effects.neutral(Topology(ranks, ranks))


def queue(**changes: float) -> LoaderQueue:
    loader = Loader(**{"workers": 4, "service_seconds": 0.2, "sample_bytes": 1.0, "dequeue_seconds": 0.0} | changes)  # type: ignore[arg-type]
    return LoaderQueue(loader, ranks=2, healthy_step_seconds=STEP)


def waits(loader: LoaderQueue, steps: int, *, with_effects: Effects) -> np.ndarray:
    now, seen = 0.0, []
    for step in range(steps):
        wait = loader.take(step, at_seconds=now, effects=with_effects)
        seen.append(wait)
        now += STEP + wait.max()
    return np.array(seen)


def test_a_loader_faster_than_the_step_never_makes_it_wait() -> None:
    assert waits(queue(), 200, with_effects=effects()).max() == 0.0


def test_starvation_begins_where_workers_over_service_falls_below_one_per_step() -> None:
    fast, slow = queue(service_seconds=4 * STEP * 0.99), queue(service_seconds=4 * STEP * 1.5)
    assert waits(fast, 200, with_effects=effects()).max() == 0.0
    steady = waits(slow, 200, with_effects=effects())[-50:]
    np.testing.assert_allclose(steady, 0.5 * STEP, rtol=1e-6)


def test_a_stall_shorter_than_the_queue_is_absorbed() -> None:
    stalled = effects()
    stalled.batch_period_steps[:] = 3.0
    loader = queue()
    # Eight batches are ready: at a period of three steps they last for some ten steps.
    assert waits(loader, 8, with_effects=stalled).max() == 0.0
    assert waits(queue(), 40, with_effects=stalled)[-1].max() > 0.0


def test_without_workers_every_batch_is_waited_for() -> None:
    loader = queue(workers=0, service_seconds=0.03)
    np.testing.assert_allclose(waits(loader, 5, with_effects=effects()), 0.03)
    assert loader.visible_batches(5, at_seconds=1.0, effects=effects()).tolist() == [0.0, 0.0]


def test_without_workers_lateness_comes_on_top_of_the_loading() -> None:
    late = effects()
    late.batch_period_steps[:] = 1.25
    loader = queue(workers=0, service_seconds=0.03)
    np.testing.assert_allclose(waits(loader, 5, with_effects=late), 0.03 + 0.25 * STEP)


def test_a_late_batch_hits_exactly_one_rank_a_step_and_not_always_the_same() -> None:
    late = effects()
    late.late_batches.append(LateBatch("f", 1, np.array([0, 1]), 0.5))
    seen = waits(queue(), 100, with_effects=late)
    assert ((seen > 0).sum(axis=1) == 1).all()
    np.testing.assert_allclose(seen.max(axis=1), 0.5 * STEP)
    assert 20 < (seen[:, 0] > 0).sum() < 80
    visible = queue().visible_batches(7, at_seconds=10.0, effects=late)
    assert visible.min() == 0.0
    assert visible.max() <= 8.0


@pytest.mark.parametrize("level", [0.0, 0.5, 3.0])
def test_steps_may_be_taken_at_once_only_when_none_can_wait(level: float) -> None:
    loader = queue()
    loader._level[:] = level
    assert loader.never_waits(effects(), STEP) == (level >= 1.0)
    assert not loader.never_waits(effects(), 0.04)
