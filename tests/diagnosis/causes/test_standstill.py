"""Jobs that stand still, and boards that fail under them."""

from __future__ import annotations

import pytest

from diagnosis.engine import diagnose
from tests.diagnosis.runs import fault, judged, named, seen


@pytest.mark.parametrize("preset", ["workshop-4gpu", "honest-64xh100"])
def test_who_never_arrives_is_named_and_nothing_else(preset: str) -> None:
    found = judged(preset, fault("hang", ranks=[2]))
    assert named(found) == [("hang", ("2",))]
    assert found.cost is None
    assert found.verdicts[0].cost.wasted_share == 1.0


def test_a_stall_as_long_as_logs_show_is_no_hang() -> None:
    series = seen("honest-64xh100", fault("hang", ranks=[2]))
    assert all(cause != "hang" for cause, _ in named(diagnose(series, at=135.0)))


@pytest.mark.parametrize("kind", ["gpu_lost", "ecc_error"])
def test_a_board_that_fails_is_the_cause_of_the_standstill(kind: str) -> None:
    assert named(judged("honest-64xh100", fault(kind, ranks=[9]))) == [(kind, ("9",))]


def test_a_corrected_memory_error_is_told_although_the_job_goes_on() -> None:
    found = judged("workshop-4gpu", fault("ecc_error", severity="mild", ranks=[1]))
    assert named(found) == [("ecc_error", ("1",))]
    assert found.verdicts[0].cost.slowdown == 1.0
