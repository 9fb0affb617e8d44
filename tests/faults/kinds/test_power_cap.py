from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from faults.book import FaultBook
from faults.effects import Effects
from faults.errors import FaultError
from faults.kinds.power_cap import KIND
from faults.spec import FaultSpec
from faults.target import Target
from tests.faults.kinds.helpers import CLUSTER, application, effects_of
from tests.faults.strategies import relaxed


@pytest.mark.parametrize(("intensity", "limit"), [(1.0, 500.0), (0.5, 600.0), (0.25, 650.0)])
def test_the_limit_lies_between_the_boards_own_and_the_one_asked_for(intensity: float, limit: float) -> None:
    effects = effects_of(KIND, application(KIND, (2, 5), intensity))
    inf = np.inf
    assert effects.power_limit_watts.tolist() == [inf, inf, limit, inf, inf, limit, inf, inf]
    assert (effects.thermal_resistance == 1.0).all()


def test_the_boards_own_limit_is_the_jobs() -> None:
    big = replace(CLUSTER, board_watts=1_000.0)
    effects = Effects.neutral(big)
    KIND.apply(effects, replace(application(KIND, (0,), 0.5), topology=big))
    assert effects.power_limit_watts[0] == 750.0


@relaxed
@given(st.floats(340, 690), st.floats(340, 690), st.floats(0.01, 1), st.floats(0.01, 1))
def test_the_lowest_limit_counts(first: float, second: float, one: float, other: float) -> None:
    each = application(KIND, (1, 2), one, limit_watts=first), application(KIND, (2, 3), other, limit_watts=second)
    both, reverse = effects_of(KIND, *each), effects_of(KIND, *reversed(each))
    assert both.power_limit_watts.tolist() == reverse.power_limit_watts.tolist()
    low, shared, high = both.power_limit_watts[1:4]
    assert shared == min(low, high)


def test_a_limit_that_a_board_has_anyway_is_refused() -> None:
    small = FaultBook(replace(CLUSTER, board_watts=400.0), seed=0)
    with pytest.raises(
        FaultError, match=r"^params\.limit_watts: must be below 400, the limit that the boards"
    ) as caught:
        small.put("cap", FaultSpec("power_cap", open_ended=True), at_seconds=0.0, next_step=0)
    assert caught.value.code == "unsupported"
    small.put(
        "cap", FaultSpec("power_cap", params={"limit_watts": 350.0}, open_ended=True), at_seconds=0.0, next_step=0
    )


def test_hits_one_rank_unless_told() -> None:
    assert KIND.default_target_for(KIND.default_params()) == Target("one")
