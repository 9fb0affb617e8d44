"""An explosion shows in no machine, and is told from what it leads to."""

from __future__ import annotations

import pytest

from tests.diagnosis.runs import fault, judged, named


@pytest.mark.parametrize("severity", ["mild", "moderate", "severe"])
@pytest.mark.parametrize("preset", ["workshop-4gpu", "honest-64xh100"])
def test_named_at_once_and_at_no_cost_in_time(preset: str, severity: str) -> None:
    found = judged(preset, fault("gradient_explosion", severity=severity), watched=45)
    assert named(found) == [("gradient_explosion", ())]
    assert found.verdicts[0].cost.slowdown == 1.0


@pytest.mark.parametrize("watched", [30, 150])
def test_a_run_that_it_drove_into_nan_still_says_what_came_first(watched: int) -> None:
    found = judged("fragile-4gpu", fault("gradient_explosion"), watched=watched)
    assert found.verdicts[0].cause == "gradient_explosion"
