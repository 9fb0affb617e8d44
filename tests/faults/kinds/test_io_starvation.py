from __future__ import annotations

import pytest

from faults.effects import LateBatch
from faults.kinds.io_starvation import KIND
from faults.target import Target
from tests.faults.kinds.helpers import application, effects_of


@pytest.mark.parametrize(
    ("mode", "target"), [("tail", Target("all")), ("node", Target("nodes")), ("uniform", Target("all"))]
)
def test_default_target(mode: str, target: Target) -> None:
    assert KIND.default_target_for({"mode": mode, "lateness_steps": 0.5}) == target


def test_tail_is_one_late_batch_per_step() -> None:
    effects = effects_of(KIND, application(KIND, (2, 5), 0.5, lateness_steps=2.0))
    (late,) = effects.late_batches
    assert isinstance(late, LateBatch)
    assert (late.fault, late.seed, late.ranks.tolist(), late.lateness_steps) == ("f", 9, [2, 5], 1.0)
    assert not effects.batch_period_steps.any()


@pytest.mark.parametrize("mode", ["node", "uniform"])
def test_loaders_of_the_ranks_slow_down(mode: str) -> None:
    effects = effects_of(KIND, application(KIND, (4, 5), 0.5, mode=mode))
    assert effects.batch_period_steps.tolist() == [0, 0, 0, 0, 1.25, 1.25, 0, 0]
    assert effects.late_batches == []


def test_delays_add_where_they_meet() -> None:
    effects = effects_of(
        KIND,
        application(KIND, (0, 1), mode="node", lateness_steps=0.5),
        application(KIND, (1, 2), mode="uniform", lateness_steps=0.25),
    )
    assert effects.batch_period_steps[:4].tolist() == [1.5, 1.75, 1.25, 0.0]


def test_every_tail_stands_on_its_own() -> None:
    effects = effects_of(KIND, application(KIND, (0,)), application(KIND, (1,)))
    assert [late.ranks.tolist() for late in effects.late_batches] == [[0], [1]]
