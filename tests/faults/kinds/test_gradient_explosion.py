from __future__ import annotations

import pytest

from faults.effects import Instability
from faults.errors import FaultError
from faults.kinds.gradient_explosion import KIND
from faults.spec import FaultSpec
from faults.target import Target
from tests.faults.kinds.helpers import application, effects_of


def test_is_an_instability_and_no_machine_notices() -> None:
    effects = effects_of(KIND, application(KIND, intensity=0.5, peak_factor=2000.0, growth_steps=6))
    assert effects.instabilities == [Instability("f", 9, 0.5, peak_factor=2000.0, growth_steps=6)]
    assert (effects.compute_slowdown == 1.0).all()
    assert not effects.batch_period_steps.any()


def test_several_stand_side_by_side() -> None:
    assert len(effects_of(KIND, application(KIND), application(KIND)).instabilities) == 2


def test_concerns_the_whole_run() -> None:
    assert KIND.default_target_for(KIND.default_params()) == Target("all")
    with pytest.raises(FaultError, match=r"^target\.mode: must be all"):
        FaultSpec.from_mapping({"kind": KIND.name, "target": {"mode": "ranks", "value": [0]}, "open_ended": True})
