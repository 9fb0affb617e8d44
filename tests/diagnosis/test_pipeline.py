"""The isolation pipeline: its order, and which stage fails on which fault."""

from __future__ import annotations

import numpy as np
import pytest

from diagnosis.engine import diagnose
from faults.spec import FaultSpec
from tests.diagnosis.runs import fault, judged, seen

ORDER = (
    "storage and data loader", "NUMA affinity", "GPUDirect", "network path", "lossless fabric", "NCCL settings",
)  # fmt: skip


def outcomes(preset: str, *faults: FaultSpec) -> dict[str, str]:
    stages = judged(preset, *faults).pipeline
    assert tuple(stage.name for stage in stages) == ORDER
    return {stage.name: stage.outcome for stage in stages}


def test_a_healthy_job_passes_all_of_them() -> None:
    assert set(outcomes("honest-64xh100").values()) == {"pass"}


@pytest.mark.parametrize(
    ("spec", "stage"),
    [
        (fault("io_starvation", mode="tail"), "storage and data loader"),
        (fault("network_tail_latency"), "NCCL settings"),
    ],
)
def test_the_stage_that_is_hit_fails_and_no_other(spec: FaultSpec, stage: str) -> None:
    assert [name for name, outcome in outcomes("honest-64xh100", spec).items() if outcome == "fail"] == [stage]


def test_what_a_job_inside_one_node_cannot_show_is_said_and_not_passed() -> None:
    found = outcomes("workshop-4gpu")
    assert {name for name, outcome in found.items() if outcome == "not measurable"} == {
        "GPUDirect", "network path", "lossless fabric",
    }  # fmt: skip
    for stage in judged("workshop-4gpu").pipeline:
        assert (stage.value is None) == (stage.outcome == "not measurable") == bool(stage.reason)


def test_without_an_earlier_window_there_is_nothing_to_compare_transfers_with() -> None:
    series = seen("honest-64xh100").at(np.arange(5))
    assert {stage.name: stage.outcome for stage in diagnose(series).pipeline}["NCCL settings"] == "not measurable"
