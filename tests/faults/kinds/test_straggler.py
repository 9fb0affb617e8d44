from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faults.kinds.straggler import KIND
from faults.target import Target
from tests.faults.kinds.helpers import application, effects_of
from tests.faults.strategies import relaxed


def test_multiplies_compute_of_its_ranks() -> None:
    effects = effects_of(KIND, application(KIND, (2, 5), slowdown=2.0))
    assert effects.compute_slowdown.tolist() == [1, 1, 2, 1, 1, 2, 1, 1]
    assert not effects.batch_period_steps.any()


@pytest.mark.parametrize(("intensity", "factor"), [(0.25, 1.125), (0.5, 1.25), (1.0, 1.5)])
def test_intensity_scales_the_excess(intensity: float, factor: float) -> None:
    assert effects_of(KIND, application(KIND, (0,), intensity)).compute_slowdown[0] == factor


@relaxed
@given(st.floats(1.05, 4), st.floats(1.05, 4))
def test_slow_downs_multiply(first: float, second: float) -> None:
    both = effects_of(KIND, application(KIND, (1, 2), slowdown=first), application(KIND, (2, 3), slowdown=second))
    assert both.compute_slowdown[1:4] == pytest.approx([first, first * second, second])


@relaxed
@given(st.floats(1.05, 4), st.floats(0, 1), st.floats(0, 1))
def test_more_intensity_is_never_faster(slowdown: float, one: float, other: float) -> None:
    low, high = (
        effects_of(KIND, application(KIND, (0,), intensity, slowdown=slowdown)).compute_slowdown[0]
        for intensity in sorted((one, other))
    )
    assert 1.0 <= low <= high <= slowdown + 1e-12


def test_hits_one_rank_unless_told() -> None:
    assert KIND.default_target_for(KIND.default_params()) == Target("one")
