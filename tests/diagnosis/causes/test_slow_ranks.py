"""A GPU that is slow, and why: what its board says decides between the causes."""

from __future__ import annotations

import pytest

from tests.diagnosis.runs import fault, judged, named

PRESETS = ("workshop-4gpu", "anatomy-32gpu", "honest-64xh100")
SEVERITIES = ("mild", "moderate", "severe")


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("severity", SEVERITIES)
@pytest.mark.parametrize("kind", ["straggler", "thermal_throttle", "power_cap"])
def test_cause_and_culprit(preset: str, severity: str, kind: str) -> None:
    assert named(judged(preset, fault(kind, severity=severity, ranks=[2]))) == [(kind, ("2",))]


def test_several_slow_ranks_are_all_named_and_a_whole_node_is_one() -> None:
    two = judged("honest-64xh100", fault("straggler", ranks=[5, 40]))
    assert named(two) == [("straggler", ("5", "40"))]
    node = judged("honest-64xh100", fault("straggler", ranks=list(range(8, 16))))
    (verdict,) = node.verdicts
    assert verdict.culprit is not None
    assert (verdict.culprit.scope, verdict.culprit.nodes) == ("node", ("node-01",))


def test_a_slow_rank_beside_one_with_a_hot_or_capped_board_is_still_found() -> None:
    for kind in ("thermal_throttle", "power_cap"):
        found = judged("honest-64xh100", fault("straggler", ranks=[48]), fault(kind, ranks=[17]))
        assert set(named(found)) == {("straggler", ("48",)), (kind, ("17",))}


def test_what_the_clock_explains_is_not_blamed_on_the_chip_and_what_it_does_not_is() -> None:
    capped = judged("workshop-4gpu", fault("power_cap", ranks=[1]))
    assert named(capped) == [("power_cap", ("1",))]
    both = judged("workshop-4gpu", fault("power_cap", ranks=[1]), fault("straggler", ranks=[1]))
    assert set(named(both)) == {("power_cap", ("1",)), ("straggler", ("1",))}


def test_the_cost_is_what_mending_the_rank_would_save() -> None:
    (verdict,) = judged("workshop-4gpu", fault("straggler", ranks=[2], slowdown=1.5)).verdicts
    assert verdict.cost.slowdown == pytest.approx(1.47, abs=0.05)
    assert verdict.cost.wasted_share == pytest.approx(1 - 1 / verdict.cost.slowdown)
    assert verdict.cost.wasted_gpu_hours_per_hour == pytest.approx(4 * verdict.cost.wasted_share)


def test_hot_without_throttling_costs_nothing_yet() -> None:
    (verdict,) = judged("workshop-4gpu", fault("thermal_throttle", severity="mild", ranks=[0])).verdicts
    assert verdict.detail == "hot, not throttling yet"
    assert verdict.cost.slowdown == 1.0
