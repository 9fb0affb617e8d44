from __future__ import annotations

import pytest

from faults.errors import FaultError
from faults.kinds.node_unreachable import KIND
from faults.spec import FaultSpec
from faults.target import Target
from tests.faults.kinds.helpers import application, effects_of


@pytest.mark.parametrize("intensity", [0.25, 1.0])
def test_intensity_is_the_share_of_time(intensity: float) -> None:
    effects = effects_of(KIND, application(KIND, (4, 5, 6, 7), intensity))
    (outage,) = effects.node_outages
    assert (outage.fault, outage.seed, outage.ranks.tolist(), outage.share) == ("f", 9, [4, 5, 6, 7], intensity)
    assert not effects.profiling_outages


def test_hits_whole_nodes_and_one_unless_told() -> None:
    assert KIND.default_target_for(KIND.default_params()) == Target("nodes")
    with pytest.raises(FaultError, match=r"^target\.mode: must be "):
        FaultSpec.from_mapping({"kind": KIND.name, "target": {"mode": "ranks", "value": [0]}, "open_ended": True})
