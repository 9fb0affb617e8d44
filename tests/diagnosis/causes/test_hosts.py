"""The host side: NUMA, and loaders without CPU."""

from __future__ import annotations

import pytest

from tests.diagnosis.runs import fault, judged, named


@pytest.mark.parametrize("preset", ["workshop-4gpu", "honest-64xh100"])
@pytest.mark.parametrize("severity", ["mild", "moderate", "severe"])
def test_a_process_on_the_wrong_numa_node(preset: str, severity: str) -> None:
    assert named(judged(preset, fault("numa_misaffinity", severity=severity, ranks=[3]))) == [
        ("numa_misaffinity", ("3",))
    ]


@pytest.mark.parametrize("severity", ["moderate", "severe"])
def test_workers_without_cpu_name_their_node(severity: str) -> None:
    ranks = list(range(8, 16))
    found = judged("honest-64xh100", fault("dataloader_cpu", severity=severity, ranks=ranks))
    assert named(found)[0] == ("dataloader_cpu", tuple(map(str, ranks)))
    # No public series tells it from that node's storage for certain: the other one is said too, with less confidence.
    assert [cause for cause, _ in named(found)] == ["dataloader_cpu", "io_starvation"]
    assert found.verdicts[1].confidence < found.verdicts[0].confidence
