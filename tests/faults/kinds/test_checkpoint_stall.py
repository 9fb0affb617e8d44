from __future__ import annotations

import pytest

from faults.effects import SlowCheckpoint
from faults.errors import FaultError
from faults.kinds.checkpoint_stall import KIND
from faults.spec import FaultSpec
from faults.target import Target
from tests.faults.kinds.helpers import application, effects_of


@pytest.mark.parametrize(("intensity", "block"), [(0.25, 3.0), (0.5, 6.0), (1.0, 12.0)])
def test_is_a_slow_checkpoint_once_in_so_many_steps(intensity: float, block: float) -> None:
    effects = effects_of(KIND, application(KIND, intensity=intensity, every_steps=50))
    assert effects.slow_checkpoints == [SlowCheckpoint("f", 9, every_steps=50, block_steps=block)]
    assert effects.late_batches == []


def test_each_keeps_its_own_beat() -> None:
    effects = effects_of(KIND, application(KIND, every_steps=10), application(KIND, every_steps=15))
    assert [slow.every_steps for slow in effects.slow_checkpoints] == [10, 15]


def test_its_mean_is_one_over_the_steps_between() -> None:
    assert KIND.cycle_steps({"every_steps": 250, "block_steps": 2.0}) == 250


def test_all_ranks_write() -> None:
    assert KIND.default_target_for(KIND.default_params()) == Target("all")
    with pytest.raises(FaultError, match=r"^target\.mode: must be all"):
        FaultSpec.from_mapping({"kind": KIND.name, "target": {"mode": "one"}, "open_ended": True})
