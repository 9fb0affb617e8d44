"""What only the learning series show."""

from __future__ import annotations

import pytest

from tests.diagnosis.runs import fault, judged, named

SEVERITIES = ("mild", "moderate", "severe")


@pytest.mark.parametrize("severity", SEVERITIES)
def test_a_nan_that_nothing_led_to_is_no_explosion(severity: str) -> None:
    assert named(judged("workshop-4gpu", fault("nan_loss", severity=severity))) == [("nan_loss", ())]


@pytest.mark.parametrize("severity", SEVERITIES)
def test_a_loss_scale_that_collapses(severity: str) -> None:
    found = judged("fragile-4gpu", fault("loss_scale_collapse", severity=severity), watched=60)
    assert named(found) == [("loss_scale_collapse", ())]


@pytest.mark.parametrize("severity", SEVERITIES)
@pytest.mark.parametrize("preset", ["workshop-4gpu", "honest-64xh100"])
def test_a_learning_rate_that_was_cut(preset: str, severity: str) -> None:
    found = judged(preset, fault("loss_plateau", severity=severity))
    assert named(found) == [("loss_plateau", ())]
    assert found.verdicts[0].cost.slowdown == 1.0
