"""Jobs that stand still, and boards that fail under them."""

from __future__ import annotations

import pytest

from diagnosis.engine import diagnose
from diagnosis.ticks import series_of
from simulator.headless import start
from simulator.presets import PRESETS
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


@pytest.mark.parametrize("preset", ["workshop-4gpu", "honest-64xh100"])
@pytest.mark.parametrize("every", [1, 15])
def test_a_job_that_is_started_again_is_down_and_does_not_hang(preset: str, every: int) -> None:
    run = start(PRESETS[preset], seed=3)
    ticks = [run.advance() for _ in range(120)]
    run.restart(90.0)
    ticks += [run.advance() for _ in range(75)]
    found = diagnose(series_of(ticks[every - 1 :: every]))
    assert found.verdicts == ()
    assert "every rank is outside of any step and idle: the job is down" in found.sentence
    ticks += [run.advance() for _ in range(165)]
    assert named(diagnose(series_of(ticks[every - 1 :: every]))) == []


@pytest.mark.parametrize("kind", ["hang", "gpu_lost", "ecc_error", "pfc_storm"])
def test_whatever_it_stands_still_for_costs_everything_from_the_first_verdict_on(kind: str) -> None:
    for watched in (45, 120):
        found = judged("workshop-4gpu" if kind != "pfc_storm" else "anatomy-32gpu", fault(kind), watched=watched)
        assert found.verdicts[0].cause == kind
        assert found.verdicts[0].cost.wasted_share == 1.0
        assert found.cost is None or found.cost.wasted_share == 1.0
