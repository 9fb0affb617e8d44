from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faults.kinds.link_degraded import KIND
from faults.target import Target
from tests.faults.kinds.helpers import application, effects_of
from tests.faults.strategies import relaxed


@pytest.mark.parametrize(("intensity", "rate"), [(1.0, 0.25), (0.5, 0.625), (0.25, 0.8125)])
def test_lowers_the_rate_of_the_interface_beside_its_ranks(intensity: float, rate: float) -> None:
    effects = effects_of(KIND, application(KIND, (2, 5), intensity))
    assert effects.nic_rate.tolist() == [1, 1, rate, 1, 1, rate, 1, 1]
    assert effects.collective_tails == []


@relaxed
@given(st.floats(0.05, 0.9), st.floats(0.05, 0.9))
def test_the_lowest_rate_counts(first: float, second: float) -> None:
    each = application(KIND, (1, 2), rate_ratio=first), application(KIND, (2, 3), rate_ratio=second)
    both, reverse = effects_of(KIND, *each), effects_of(KIND, *reversed(each))
    assert both.nic_rate.tolist() == reverse.nic_rate.tolist()
    assert both.nic_rate[1:4] == pytest.approx([first, min(first, second), second])


def test_hits_one_interface_unless_told() -> None:
    assert KIND.default_target_for(KIND.default_params()) == Target("one")
