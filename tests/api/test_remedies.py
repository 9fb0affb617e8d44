"""`/v1/remedies`."""

from __future__ import annotations

from typing import Any

import pytest

from faults.remedy_registry import remedies
from tests.api.conftest import STRAGGLER, Bench, pointers, problem

CORDON: dict[str, Any] = {"remedy": "cordon_node", "target": {"mode": "nodes", "value": [0]}}


def test_what_can_be_done(bench: Bench) -> None:
    found = bench.get("/v1/remedies")
    assert [one["remedy"] for one in found["remedies"]] == list(remedies())
    size = next(one for one in found["remedies"] if one["remedy"] == "NCCL_BUFFSIZE")
    assert (size["value"]["minimum"], size["value"]["x-unit"], size["restarts"]) == (65_536, "bytes", True)
    assert next(one for one in found["remedies"] if one["remedy"] == "roll_back")["value"] is None
    assert found["applied"] == []


def test_the_right_one_ends_its_cause_after_what_a_restart_costs(bench: Bench) -> None:
    healthy = bench.get("/v1/step")["duration_seconds"]
    bench.put_fault("slow", STRAGGLER)
    bench.turn(20)
    answer = bench.client.post("/v1/remedies", json=CORDON)
    assert answer.status_code == 201, answer.text
    applied = answer.json()
    assert (applied["remedy"], applied["value"], applied["restart_seconds"]) == ("cordon_node", None, 40.0)
    assert bench.get("/v1/faults/slow")["state"] == "cleared"
    bench.turn(10)
    assert bench.get("/v1/state")["ranks"][0]["gpu_util_percent"] == 0.0
    bench.turn(50)
    assert bench.get("/v1/step")["duration_seconds"] == pytest.approx(healthy, rel=0.05)
    assert bench.get("/v1/remedies")["applied"] == [applied]
    events = [(one["event"], one["detail"]) for one in bench.get("/v1/events")["events"]]
    assert ("remedy_applied", "cordon_node, nodes=0; the job is down for 40 s") in events


def test_the_answer_does_not_say_whether_it_helped(bench: Bench) -> None:
    bench.put_fault("slow", STRAGGLER)
    right = bench.client.post("/v1/remedies", json=CORDON).json()
    wrong = bench.client.post("/v1/remedies", json={"remedy": "cache_on_nvme"}).json()
    assert right.keys() == wrong.keys()
    assert "slow" not in str(right)


def test_a_dry_run_says_what_it_would_do_and_does_nothing(bench: Bench) -> None:
    bench.put_fault("slow", STRAGGLER)
    bench.turn(5)
    answer = bench.client.post("/v1/remedies?dry_run=true", json=CORDON)
    assert answer.status_code == 200, answer.text
    predicted = answer.json()["predicted"]
    assert predicted["mfu"]["after"] > 1.3 * predicted["mfu"]["before"]
    assert answer.json()["restart_seconds"] == 40.0
    wrong = bench.client.post("/v1/remedies?dry_run=true", json={"remedy": "cache_on_nvme"}).json()["predicted"]
    assert wrong["mfu"]["after"] == pytest.approx(wrong["mfu"]["before"], rel=0.01)
    assert bench.get("/v1/remedies")["applied"] == []
    assert bench.get("/v1/faults/slow")["state"] == "active"


def test_dry_runs_of_faults_know_what_was_done(bench: Bench) -> None:
    bench.client.post("/v1/remedies", json={"remedy": "power_limit", "value": 300})
    bench.turn(5)
    slow = bench.put_fault("nothing", {"kind": "none", "open_ended": True}, dry_run="true").json()["predicted"]["mfu"]
    assert slow["before"] == pytest.approx(slow["after"])
    assert slow["before"] < 0.4


def test_a_reset_forgets_what_was_done(bench: Bench) -> None:
    bench.client.post("/v1/remedies", json={"remedy": "power_limit", "value": 300})
    bench.turn(3)
    assert bench.client.post("/v1/reset").status_code == 200
    assert bench.get("/v1/remedies")["applied"] == []


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({}, "/remedy"),
        ({"remedy": "pray"}, "/remedy"),
        ({"remedy": "NCCL_BUFFSIZE"}, "/remedy"),
        ({"remedy": "power_limit", "value": "300"}, "/value"),
        ({"remedy": "cordon_node"}, "/target"),
        ({"remedy": "cordon_node", "target": {"mode": "nodes", "value": [9]}}, "/target/value"),
        ({"remedy": "roll_back", "now": True}, "/now"),
    ],
)
@pytest.mark.parametrize("query", ["", "?dry_run=true"])
def test_what_cannot_be_done_is_named(bench: Bench, body: dict[str, Any], pointer: str, query: str) -> None:
    found = problem(bench.client.post(f"/v1/remedies{query}", json=body), 422)
    assert pointers(found) == [("body", pointer)]
    assert bench.get("/v1/remedies")["applied"] == []
