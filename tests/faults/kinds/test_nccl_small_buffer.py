from __future__ import annotations

import pytest

from faults.book import FaultBook
from faults.effects import Topology
from faults.errors import FaultError
from faults.kinds.nccl_small_buffer import KIND
from faults.spec import FaultSpec
from tests.faults.kinds.helpers import application, effects_of


@pytest.mark.parametrize(("intensity", "size"), [(1.0, 512), (0.5, 1_448), (0.25, 2_435)])
def test_intensity_goes_from_the_default_to_the_size_by_equal_ratios(intensity: float, size: int) -> None:
    effects = effects_of(KIND, application(KIND, intensity=intensity))
    assert effects.nccl_buffer_bytes / 2**10 == pytest.approx(size, abs=1)
    assert effects.staging_slowdown == 1.0
    assert (effects.nic_rate == 1.0).all()


def test_the_smallest_counts() -> None:
    each = application(KIND, buffer_bytes=2**20), application(KIND, buffer_bytes=2**17)
    assert effects_of(KIND, *each).nccl_buffer_bytes == effects_of(KIND, *reversed(each)).nccl_buffer_bytes == 2**17


def test_a_job_on_one_node_has_no_network() -> None:
    with pytest.raises(FaultError, match="kind: nccl_small_buffer needs a network between nodes") as caught:
        FaultBook(Topology(4, 4), seed=0).put("f", FaultSpec(KIND.name, open_ended=True), at_seconds=0.0, next_step=0)
    assert caught.value.code == "unsupported"
