from __future__ import annotations

import pytest

from faults.effects import MOST_LATENESS_STEPS
from faults.kinds.shard_boundary import KIND
from faults.target import Target
from tests.faults.kinds.helpers import application, effects_of


@pytest.mark.parametrize(("intensity", "lateness"), [(0.25, 0.6), (0.5, 1.2), (1.0, 2.4)])
def test_is_a_late_batch_once_in_so_many_steps(intensity: float, lateness: float) -> None:
    effects = effects_of(KIND, application(KIND, (2, 5), intensity, every_steps=190))
    (late,) = effects.late_batches
    assert (late.fault, late.seed, late.ranks.tolist()) == ("f", 9, [2, 5])
    assert (late.lateness_steps, late.every_steps) == (lateness, 190)
    assert not effects.batch_period_steps.any()


def test_each_keeps_its_own_beat() -> None:
    effects = effects_of(KIND, application(KIND, every_steps=10), application(KIND, every_steps=15))
    assert [late.every_steps for late in effects.late_batches] == [10, 15]


def test_all_of_them_together_are_no_hang() -> None:
    effects = effects_of(KIND, *[application(KIND, open_steps=30.0)] * 4).limited()
    assert sum(late.lateness_steps for late in effects.late_batches) == pytest.approx(MOST_LATENESS_STEPS)
    assert {late.every_steps for late in effects.late_batches} == {20}


def test_its_mean_is_one_over_a_shard() -> None:
    assert KIND.cycle_steps({"every_steps": 190, "open_steps": 1.2}) == 190


def test_any_rank_may_be_the_late_one_unless_told() -> None:
    assert KIND.default_target_for(KIND.default_params()) == Target("all")
