"""Slow collectives: on all ranks alike, so that nobody is named."""

from __future__ import annotations

import pytest

from tests.diagnosis.runs import fault, judged, named


@pytest.mark.parametrize("severity", ["mild", "moderate", "severe"])
@pytest.mark.parametrize("preset", ["anatomy-32gpu", "honest-64xh100"])
def test_a_latency_tail(preset: str, severity: str) -> None:
    assert named(judged(preset, fault("network_tail_latency", severity=severity))) == [("network_tail_latency", ())]


def test_waiting_for_a_slow_rank_or_a_late_batch_is_not_the_network() -> None:
    for spec in (fault("straggler", ranks=[3]), fault("io_starvation", mode="tail")):
        assert "network_tail_latency" not in {cause for cause, _ in named(judged("honest-64xh100", spec))}


@pytest.mark.parametrize("preset", ["anatomy-32gpu", "honest-64xh100"])
@pytest.mark.parametrize("severity", ["mild", "moderate", "severe"])
def test_a_slow_link_names_the_rank_beside_it(preset: str, severity: str) -> None:
    assert named(judged(preset, fault("link_degraded", severity=severity, ranks=[13]))) == [("link_degraded", ("13",))]


@pytest.mark.parametrize("severity", ["mild", "moderate", "severe"])
@pytest.mark.parametrize("kind", ["gdr_disabled", "nccl_small_buffer"])
def test_settings_are_everybodys(kind: str, severity: str) -> None:
    assert named(judged("honest-64xh100", fault(kind, severity=severity))) == [(kind, ())]


@pytest.mark.parametrize("severity", ["mild", "moderate", "severe"])
def test_a_storm_shows_in_the_frames_whether_the_job_still_runs_or_not(severity: str) -> None:
    assert named(judged("honest-64xh100", fault("pfc_storm", severity=severity))) == [("pfc_storm", ())]
