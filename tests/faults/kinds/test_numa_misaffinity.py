from __future__ import annotations

import pytest

from faults.kinds.numa_misaffinity import KIND
from faults.target import Target
from tests.faults.kinds.helpers import application, effects_of


@pytest.mark.parametrize(("intensity", "copies", "delay"), [(0.25, 8 / 7, 0.015), (0.5, 4 / 3, 0.03), (1.0, 2, 0.06)])
def test_lengthens_the_way_from_host_to_device(intensity: float, copies: float, delay: float) -> None:
    (path,) = effects_of(KIND, application(KIND, (2, 5), intensity)).host_paths
    assert (path.fault, path.seed, path.ranks.tolist()) == ("f", 9, [2, 5])
    assert [path.copy_factor, path.delay_steps] == pytest.approx([copies, delay])


def test_leaves_compute_and_loading_alone() -> None:
    effects = effects_of(KIND, application(KIND))
    assert (effects.compute_slowdown == 1.0).all()
    assert (effects.worker_slowdown == 1.0).all()
    assert not effects.batch_period_steps.any()


def test_several_stand_side_by_side() -> None:
    effects = effects_of(KIND, application(KIND, (1,)), application(KIND, (2,), rate_ratio=0.25))
    assert [path.copy_factor for path in effects.host_paths] == [2.0, 4.0]


def test_hits_one_rank_unless_told() -> None:
    assert KIND.default_target_for(KIND.default_params()) == Target("one")
