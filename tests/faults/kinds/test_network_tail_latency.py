from __future__ import annotations

import pytest

from faults.book import FaultBook
from faults.effects import CollectiveTail, Topology
from faults.errors import FaultError
from faults.kinds.network_tail_latency import KIND
from faults.spec import FaultSpec
from faults.target import Target
from tests.faults.kinds.helpers import application, effects_of


@pytest.mark.parametrize(("intensity", "factor"), [(0.25, 1.5), (0.5, 2.0), (1.0, 3.0)])
def test_is_a_tail_on_every_collective(intensity: float, factor: float) -> None:
    effects = effects_of(KIND, application(KIND, intensity=intensity))
    assert effects.collective_tails == [CollectiveTail("f", 9, factor)]
    assert (effects.compute_slowdown == 1.0).all()


def test_several_stand_side_by_side() -> None:
    effects = effects_of(KIND, application(KIND, factor=2.0), application(KIND, factor=4.0))
    assert [tail.factor for tail in effects.collective_tails] == [2.0, 4.0]


def test_concerns_every_rank() -> None:
    assert KIND.default_target_for(KIND.default_params()) == Target("all")
    with pytest.raises(FaultError, match=r"^target\.mode: must be all"):
        FaultSpec.from_mapping({"kind": KIND.name, "target": {"mode": "one"}, "open_ended": True})


def test_a_job_on_one_node_has_no_network_to_be_slow() -> None:
    with pytest.raises(FaultError, match="kind: network_tail_latency needs a network between nodes") as caught:
        FaultBook(Topology(4, 4), seed=0).put("f", FaultSpec(KIND.name, open_ended=True), at_seconds=0.0, next_step=0)
    assert caught.value.code == "unsupported"
