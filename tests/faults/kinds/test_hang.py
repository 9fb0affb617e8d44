from __future__ import annotations

import pytest

from faults.kinds.hang import KIND
from faults.target import Target
from tests.faults.kinds.helpers import application, effects_of


@pytest.mark.parametrize("intensity", [0.001, 0.25, 1.0])
def test_hangs_or_does_not(intensity: float) -> None:
    effects = effects_of(KIND, application(KIND, (2, 5), intensity))
    assert effects.hung.nonzero()[0].tolist() == [2, 5]
    assert not effects.dead.any()
    assert effects.stands_still


def test_stuck_on_the_host_is_another_place() -> None:
    effects = effects_of(KIND, application(KIND, (3,), where="host"), application(KIND, (4,)))
    assert (effects.dead.nonzero()[0].tolist(), effects.hung.nonzero()[0].tolist()) == ([3], [4])
    assert effects.missing.nonzero()[0].tolist() == [3, 4]


def test_hits_one_rank_unless_told() -> None:
    assert KIND.default_target_for(KIND.default_params()) == Target("one")
