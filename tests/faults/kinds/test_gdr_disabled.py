from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faults.kinds.gdr_disabled import KIND
from faults.target import Target
from tests.faults.kinds.helpers import application, effects_of
from tests.faults.snapshots import snapshot
from tests.faults.strategies import relaxed


@pytest.mark.parametrize(("intensity", "slowdown"), [(1.0, 2.0), (0.5, 1.5), (0.25, 1.25)])
def test_intensity_is_the_share_that_is_staged(intensity: float, slowdown: float) -> None:
    effects = effects_of(KIND, application(KIND, (2, 5), intensity))
    assert effects.staged_share.tolist() == [0, 0, intensity, 0, 0, intensity, 0, 0]
    assert effects.staging_slowdown == slowdown
    assert effects.nccl_buffer_bytes == float("inf")


@relaxed
@given(st.floats(0.01, 1), st.floats(0.01, 1), st.floats(1.2, 4), st.floats(1.2, 4))
def test_off_once_is_off_in_any_order(one: float, other: float, first: float, second: float) -> None:
    each = (
        application(KIND, (1, 2), one, staging_factor=first),
        application(KIND, (2, 3), other, staging_factor=second),
    )
    both = effects_of(KIND, *each)
    assert snapshot(both) == snapshot(effects_of(KIND, *reversed(each)))
    assert both.staged_share[1:4].tolist() == [one, max(one, other), other]


def test_a_setting_of_the_whole_job_unless_told() -> None:
    assert KIND.default_target_for(KIND.default_params()) == Target("all")
