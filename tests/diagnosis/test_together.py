"""What several verdicts cost together: no second is lost twice."""

from __future__ import annotations

import pytest

from diagnosis.engine import diagnose
from diagnosis.verdict import Diagnosis
from tests.diagnosis.runs import fault, judged, seen


def parts(found: Diagnosis) -> tuple[list[float], float]:
    """Seconds per step of each verdict, and of all together."""
    assert found.cost is not None
    return [verdict.cost.seconds_per_step for verdict in found.verdicts], found.cost.seconds_per_step


@pytest.mark.parametrize("since_the_start", [True, False])
def test_two_explanations_of_the_same_seconds_cost_them_once(since_the_start: bool) -> None:
    series = seen("workshop-4gpu", fault("io_starvation", mode="uniform"))
    if since_the_start:
        # No better window is known: nothing but the step itself bounds what is lost.
        series = series.part(float(series.times[-5]), float(series.times[-1]))
    found = diagnose(series)
    assert {verdict.cause for verdict in found.verdicts} == {"io_starvation", "dataloader_cpu"}
    each, together = parts(found)
    assert together == pytest.approx(max(each))
    assert found.cost is not None
    assert found.cost.slowdown == pytest.approx(max(verdict.cost.slowdown for verdict in found.verdicts))


def test_different_seconds_add_up_to_no_more_than_the_step_has_grown() -> None:
    healthy = judged("honest-64xh100")
    found = judged("honest-64xh100", fault("straggler", ranks=[48]), fault("network_tail_latency"))
    each, together = parts(found)
    assert len(each) == 2
    assert healthy.step_seconds is not None
    assert found.step_seconds is not None
    assert max(each) <= together <= sum(each) + 1e-9
    assert together <= max(max(each), 1.03 * (found.step_seconds - healthy.step_seconds))
