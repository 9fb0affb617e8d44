"""Late batches: the mode follows from how many ranks are late at once, and only a node has a culprit."""

from __future__ import annotations

import pytest

from tests.diagnosis.runs import fault, judged, named

SEVERITIES = ("mild", "moderate", "severe")


@pytest.mark.parametrize("preset", ["workshop-4gpu", "trap-87", "anatomy-32gpu", "honest-64xh100"])
@pytest.mark.parametrize("severity", SEVERITIES)
@pytest.mark.parametrize("mode", ["tail", "uniform"])
def test_a_tail_and_a_uniform_starvation_name_nobody(preset: str, severity: str, mode: str) -> None:
    found = judged(preset, fault("io_starvation", severity=severity, mode=mode))
    # On one node no series tells it from workers without CPU, which then come second.
    assert named(found)[0] == ("io_starvation", ())
    assert {cause for cause, _ in named(found)} <= {"io_starvation", "dataloader_cpu"}
    assert found.verdicts[0].detail.split(",")[0] == mode


@pytest.mark.parametrize("severity", SEVERITIES)
def test_one_nodes_mount_names_the_node(severity: str) -> None:
    ranks = list(range(16, 24))
    for preset in ("anatomy-32gpu", "honest-64xh100"):
        found = judged(preset, fault("io_starvation", severity=severity, mode="node", ranks=ranks))
        verdict = found.verdicts[0]
        assert verdict.cause == "io_starvation"
        assert verdict.culprit is not None
        assert verdict.culprit.nodes == ("node-02",)


def test_a_deep_queue_that_drains_is_told_before_it_costs_anything() -> None:
    (verdict,) = judged("honest-64xh100", fault("io_starvation", severity="mild", mode="uniform")).verdicts
    assert verdict.detail.endswith("queues draining")
    assert verdict.cost.slowdown == 1.0


def test_a_job_that_always_loads_in_the_open_is_not_accused_of_it() -> None:
    # It waits for data in 13 % of its time and always did: that is the job, not an incident.
    assert named(judged("trap-87")) == []
