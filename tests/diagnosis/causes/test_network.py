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
