from __future__ import annotations

from dataclasses import replace

import pytest

from faults.book import FaultBook
from faults.effects import MOST_OVERFLOW
from faults.errors import FaultError
from faults.kinds.loss_scale_collapse import KIND
from faults.spec import FaultSpec
from tests.faults.kinds.helpers import CLUSTER, application, effects_of


@pytest.mark.parametrize(("intensity", "factor"), [(0.25, 1e2), (0.5, 1e4), (1.0, 1e8)])
def test_makes_the_largest_values_larger_by_powers(intensity: float, factor: float) -> None:
    assert effects_of(KIND, application(KIND, intensity=intensity)).overflow_factor == pytest.approx(factor)


def test_factors_multiply_up_to_a_limit() -> None:
    pair = application(KIND, overflow=1e3), application(KIND, overflow=1e4)
    assert effects_of(KIND, *pair).overflow_factor == pytest.approx(1e7)
    many = effects_of(KIND, *[application(KIND, overflow=1e12)] * 60)
    assert many.limited().overflow_factor == MOST_OVERFLOW


def test_a_job_without_a_loss_scale_says_why_not() -> None:
    wish = FaultSpec(KIND.name, open_ended=True)
    with pytest.raises(FaultError, match=r"needs a job that scales its loss, and this one does not train in fp16") as e:
        FaultBook(CLUSTER, seed=0).put("f", wish, at_seconds=0.0, next_step=0)
    assert e.value.code == "unsupported"
    FaultBook(replace(CLUSTER, scales_loss=True), seed=0).put("f", wish, at_seconds=0.0, next_step=0)
