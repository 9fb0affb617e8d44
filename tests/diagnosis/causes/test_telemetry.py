"""Telemetry faults are called telemetry faults: no GPU is blamed."""

from __future__ import annotations

import pytest

from tests.diagnosis.runs import fault, judged, named


@pytest.mark.parametrize("preset", ["workshop-4gpu", "honest-64xh100"])
@pytest.mark.parametrize("kind", ["telemetry_stale", "prof_fields_zero"])
def test_old_and_empty_readings(preset: str, kind: str) -> None:
    assert named(judged(preset, fault(kind))) == [(kind, ())]
    found = judged(preset, fault(kind, ranks=[1]))
    assert named(found) == [(kind, ("1",))]
    assert found.verdicts[0].cost.slowdown == 1.0


@pytest.mark.parametrize("severity", ["moderate", "severe"])
def test_a_node_without_answer(severity: str) -> None:
    ranks = list(range(24, 32))
    found = judged("honest-64xh100", fault("node_unreachable", severity=severity, nodes=[3]))
    assert named(found) == [("node_unreachable", tuple(map(str, ranks)))]


def test_a_straggler_on_a_node_that_answers_is_found_beside_one_that_does_not() -> None:
    silent = fault("node_unreachable", nodes=[3])
    found = dict(named(judged("honest-64xh100", silent, fault("straggler", ranks=[2]))))
    assert found["straggler"] == ("2",)
    assert set(found) == {"straggler", "node_unreachable"}
