from __future__ import annotations

import pytest

from faults.kinds.prof_fields_zero import KIND
from faults.target import Target
from tests.faults.kinds.helpers import application, effects_of


@pytest.mark.parametrize("intensity", [0.25, 1.0])
def test_intensity_is_the_share_of_time(intensity: float) -> None:
    effects = effects_of(KIND, application(KIND, (2, 5), intensity))
    (outage,) = effects.profiling_outages
    assert (outage.fault, outage.seed, outage.ranks.tolist(), outage.share) == ("f", 9, [2, 5], intensity)
    assert not effects.node_outages


def test_hits_every_gpu_unless_told() -> None:
    assert KIND.default_target_for(KIND.default_params()) == Target("all")
