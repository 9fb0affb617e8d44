from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faults.kinds.thermal_throttle import KIND
from faults.spec import INTENSITIES
from faults.target import Target
from tests.faults.kinds.helpers import application, effects_of
from tests.faults.strategies import relaxed


@pytest.mark.parametrize(("word", "factor"), [("mild", 1.75), ("moderate", 2.5), ("severe", 4.0)])
def test_multiplies_the_thermal_resistance_of_its_boards(word: str, factor: float) -> None:
    effects = effects_of(KIND, application(KIND, (2, 5), INTENSITIES[word]))
    assert effects.thermal_resistance.tolist() == [1, 1, factor, 1, 1, factor, 1, 1]


def test_touches_nothing_but_the_cooling() -> None:
    effects = effects_of(KIND, application(KIND))
    assert (effects.compute_slowdown == 1.0).all()
    assert (effects.power_limit_watts == float("inf")).all()


def test_resistances_multiply_where_faults_meet() -> None:
    effects = effects_of(KIND, application(KIND, (1, 2), 0.5), application(KIND, (2, 3), 0.5))
    assert effects.thermal_resistance[1:4].tolist() == [2.5, 6.25, 2.5]


@relaxed
@given(st.floats(0, 1), st.floats(0, 1))
def test_more_intensity_never_cools(one: float, other: float) -> None:
    low, high = (
        effects_of(KIND, application(KIND, (0,), intensity)).thermal_resistance[0] for intensity in sorted((one, other))
    )
    assert 1.0 <= low <= high <= 4.0


def test_hits_one_rank_unless_told() -> None:
    assert KIND.default_target_for(KIND.default_params()) == Target("one")
