from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faults.kinds.loss_plateau import KIND
from faults.target import Target
from tests.faults.kinds.helpers import application, effects_of
from tests.faults.strategies import relaxed


@pytest.mark.parametrize(("intensity", "factor"), [(0.25, 0.75025), (0.5, 0.5005), (1.0, 0.001)])
def test_shrinks_the_learning_rate(intensity: float, factor: float) -> None:
    effects = effects_of(KIND, application(KIND, intensity=intensity))
    assert effects.learning_rate_factor == pytest.approx(factor)
    assert (effects.compute_slowdown == 1.0).all()


@relaxed
@given(st.floats(0, 0.9), st.floats(0, 0.9), st.floats(0, 1))
def test_factors_multiply_and_never_raise_it(first: float, second: float, intensity: float) -> None:
    each = [application(KIND, intensity=intensity, rate_factor=factor) for factor in (first, second)]
    alone = [effects_of(KIND, one).learning_rate_factor for one in each]
    assert effects_of(KIND, *each).learning_rate_factor == pytest.approx(alone[0] * alone[1])
    assert 0.0 <= min(alone) <= max(alone) <= 1.0


def test_concerns_the_whole_run() -> None:
    assert KIND.target_modes == ("all",)
    assert KIND.default_target_for(KIND.default_params()) == Target("all")
