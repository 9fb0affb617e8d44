from __future__ import annotations

import pytest

from faults.kinds.gc_pause import KIND
from faults.target import Target
from tests.faults.kinds.helpers import application, effects_of


@pytest.mark.parametrize(("intensity", "seconds"), [(0.25, 0.075), (0.5, 0.15), (1.0, 0.3)])
def test_stops_the_processes_of_its_ranks(intensity: float, seconds: float) -> None:
    effects = effects_of(KIND, application(KIND, (2, 5), intensity, every_steps=8))
    (pause,) = effects.pauses
    assert (pause.fault, pause.seed, pause.ranks.tolist(), pause.every_steps) == ("f", 9, [2, 5], 8)
    assert pause.seconds == pytest.approx(seconds)
    assert (effects.compute_slowdown == 1.0).all()


def test_several_stand_side_by_side() -> None:
    effects = effects_of(KIND, application(KIND), application(KIND, pause_seconds=1.0))
    assert [pause.seconds for pause in effects.pauses] == [0.3, 1.0]


def test_its_mean_is_one_over_a_cycle() -> None:
    assert KIND.cycle_steps({"every_steps": 33, "pause_seconds": 1.0}) == 33


def test_every_rank_collects_garbage_unless_told() -> None:
    assert KIND.default_target_for(KIND.default_params()) == Target("all")
