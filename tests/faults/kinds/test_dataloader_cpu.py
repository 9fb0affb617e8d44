from __future__ import annotations

import pytest

from faults.kinds.dataloader_cpu import KIND
from faults.target import Target
from tests.faults.kinds.helpers import application, effects_of


@pytest.mark.parametrize(("intensity", "factor"), [(0.25, 3.25), (0.5, 5.5), (1.0, 10.0)])
def test_slows_the_workers_of_its_ranks(intensity: float, factor: float) -> None:
    effects = effects_of(KIND, application(KIND, (2, 5), intensity))
    assert effects.worker_slowdown.tolist() == [1, 1, factor, 1, 1, factor, 1, 1]


def test_storage_delivers_as_ever() -> None:
    effects = effects_of(KIND, application(KIND))
    assert not effects.batch_period_steps.any()
    assert effects.late_batches == []
    assert (effects.compute_slowdown == 1.0).all()


def test_slow_downs_multiply_where_they_meet() -> None:
    both = effects_of(KIND, application(KIND, (1, 2), slowdown=2.0), application(KIND, (2, 3), slowdown=4.0))
    assert both.worker_slowdown[1:4].tolist() == [2.0, 8.0, 4.0]


def test_hits_one_node_unless_told() -> None:
    assert KIND.default_target_for(KIND.default_params()) == Target("nodes")
