from __future__ import annotations

import pytest

from faults.kinds.nccl_algo import KIND
from tests.faults.kinds.helpers import application, effects_of
from tests.faults.snapshots import snapshot


@pytest.mark.parametrize("algorithm", ["ring", "tree"])
@pytest.mark.parametrize("intensity", [0.25, 0.5, 1.0])
def test_intensity_is_the_share_of_collectives(algorithm: str, intensity: float) -> None:
    effects = effects_of(KIND, application(KIND, intensity=intensity, algorithm=algorithm))
    assert (effects.nccl_algorithm, effects.nccl_forced_share) == (algorithm, intensity)
    assert effects.nccl_buffer_bytes == float("inf")


def test_a_ring_counts_before_a_tree_in_any_order() -> None:
    each = application(KIND, intensity=0.25, algorithm="ring"), application(KIND, intensity=0.5, algorithm="tree")
    both = effects_of(KIND, *each)
    assert snapshot(both) == snapshot(effects_of(KIND, *reversed(each)))
    assert (both.nccl_algorithm, both.nccl_forced_share) == ("ring", 0.5)
