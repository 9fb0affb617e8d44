from __future__ import annotations

import pytest

from faults.effects import Poison
from faults.kinds.nan_loss import KIND
from faults.target import Target
from tests.faults.kinds.helpers import application, effects_of


@pytest.mark.parametrize(("intensity", "chance"), [(0.25, 0.05), (0.5, 0.1), (1.0, 0.2)])
def test_is_a_chance_of_each_step(intensity: float, chance: float) -> None:
    effects = effects_of(KIND, application(KIND, intensity=intensity))
    assert effects.poisons == [Poison("f", 9, chance)]
    assert effects.instabilities == []


def test_several_stand_side_by_side() -> None:
    assert len(effects_of(KIND, application(KIND), application(KIND)).poisons) == 2


def test_concerns_the_whole_run() -> None:
    assert KIND.target_modes == ("all",)
    assert KIND.default_target_for(KIND.default_params()) == Target("all")
