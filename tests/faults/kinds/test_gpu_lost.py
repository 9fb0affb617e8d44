from __future__ import annotations

import pytest

from faults.kinds.gpu_lost import KIND
from faults.target import Target
from tests.faults.kinds.helpers import application, effects_of


@pytest.mark.parametrize("intensity", [0.001, 0.25, 1.0])
def test_lost_is_lost(intensity: float) -> None:
    effects = effects_of(KIND, application(KIND, (2, 5), intensity), application(KIND, (5, 6), intensity))
    assert effects.lost.nonzero()[0].tolist() == [2, 5, 6]
    assert effects.missing.nonzero()[0].tolist() == [2, 5, 6]
    assert effects.stands_still
    assert not effects.ecc_errors


def test_hits_one_gpu_unless_told() -> None:
    assert KIND.default_target_for(KIND.default_params()) == Target("one")
