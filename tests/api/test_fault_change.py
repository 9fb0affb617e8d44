"""PATCH: what may be changed of a fault, and when it is too late."""

from __future__ import annotations

from typing import Any

import pytest

from tests.api.conftest import STRAGGLER, Bench, pointers, problem


def patch(bench: Bench, body: object, name: str = "slow", **query: str) -> Any:
    return bench.client.patch(f"/v1/faults/{name}", json=body, params=query)


def changed(bench: Bench, body: object, name: str = "slow") -> dict[str, Any]:
    answer = patch(bench, body, name)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def events(bench: Bench) -> list[str]:
    return [event["event"] for event in bench.get("/v1/events")["events"] if event["name"]]


def test_intensity_acts_from_the_step_that_the_answer_names(bench: Bench) -> None:
    bench.put_fault("slow", STRAGGLER | {"intensity": 0.25})
    bench.turn(5)
    mild = bench.get("/v1/step")["duration_seconds"]
    found = changed(bench, {"intensity": 1})
    assert (found["intensity"], found["effective_intensity"]) == (1.0, 1.0)
    assert found["effective_from_step"] == bench.get("/v1/state")["position"]["next_step"]
    bench.turn(3)
    assert bench.get("/v1/step")["duration_seconds"] > 1.2 * mild
    assert events(bench) == ["created", "started", "peaked", "changed"]


def test_a_longer_duration_moves_the_end(bench: Bench) -> None:
    before = bench.put_fault("slow", {"kind": "straggler", "duration_seconds": 5}).json()
    bench.turn(4)
    after = changed(bench, {"duration_seconds": 20})
    assert after["expires_at"] > before["expires_at"]
    bench.turn(6)
    assert bench.get("/v1/faults/slow")["state"] == "active"
    bench.turn(10)
    assert bench.get("/v1/faults/slow")["state"] == "expired"


def test_open_ended_and_timed_again(bench: Bench) -> None:
    bench.put_fault("slow", {"kind": "straggler", "duration_seconds": 5})
    lasting = changed(bench, {"open_ended": True})
    assert (lasting["open_ended"], lasting["duration_seconds"], lasting["expires_at"]) == (True, None, None)
    timed = changed(bench, {"open_ended": False, "duration_seconds": 60})
    assert (timed["open_ended"], timed["duration_seconds"]) == (False, 60.0)


def test_a_paused_fault_lets_the_job_be_and_goes_on_where_it_stood(bench: Bench) -> None:
    healthy = bench.get("/v1/step")["duration_seconds"]
    bench.put_fault("slow", {"kind": "straggler", "duration_seconds": 10})
    bench.turn(4)
    paused = changed(bench, {"paused": True})
    assert (paused["paused"], paused["state"], paused["effective_intensity"]) == (True, "active", 0.0)
    assert paused["expires_at"] is None
    bench.turn(30)
    assert bench.get("/v1/step")["duration_seconds"] == pytest.approx(healthy, rel=0.05)
    resumed = changed(bench, {"paused": False})
    assert (resumed["paused"], resumed["effective_intensity"]) == (False, 1.0)
    bench.turn(3)
    assert bench.get("/v1/step")["duration_seconds"] > 1.3 * healthy
    bench.turn(4)
    assert bench.get("/v1/faults/slow")["state"] == "expired"
    assert events(bench) == ["created", "started", "peaked", "paused", "resumed", "expired"]


@pytest.mark.parametrize("body", [{}, {"intensity": 1.0}, {"paused": False}, {"open_ended": True}])
def test_the_same_again_changes_nothing(bench: Bench, body: dict[str, Any]) -> None:
    bench.put_fault("slow")
    bench.turn(2)
    before = bench.get("/v1/faults/slow")
    assert changed(bench, body) == before
    assert events(bench) == ["created", "started", "peaked"]


def test_a_name_never_seen_is_404(bench: Bench) -> None:
    problem(patch(bench, {"intensity": 0.5}, "nobody"), 404)


@pytest.mark.parametrize("end", ["cleared", "expired", "recovering"])
def test_what_is_over_is_409(bench: Bench, end: str) -> None:
    body = {"kind": "straggler", "duration_seconds": 3, "ramp_down_seconds": 60 if end == "recovering" else 0}
    bench.put_fault("slow", body)
    if end == "cleared":
        bench.client.delete("/v1/faults/slow")
    bench.turn(4)
    found = problem(patch(bench, {"intensity": 0.5}), 409)
    assert found["type"].endswith("fault-is-over")
    assert f"is {end}" in found["detail"]
    assert pointers(found) == [("path", "/name")]


def test_an_end_that_has_passed_is_409(bench: Bench) -> None:
    bench.put_fault("slow", {"kind": "straggler", "duration_seconds": 60})
    bench.turn(10)
    found = problem(patch(bench, {"duration_seconds": 10}), 409)
    assert pointers(found) == [("body", "/duration_seconds")]
    assert "must be above 10" in found["detail"]
    assert bench.get("/v1/faults/slow")["duration_seconds"] == 60.0


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"intensity": 0}, "/intensity"),
        ({"intensity": None}, "/intensity"),
        ({"intensity": "severe"}, "/intensity"),
        ({"duration_seconds": -1}, "/duration_seconds"),
        ({"duration_seconds": 5, "open_ended": True}, "/duration_seconds"),
        ({"open_ended": False}, "/duration_seconds"),
        ({"paused": 1}, "/paused"),
        ({"params": {"slowdown": 2}}, "/params"),
        ([], ""),
    ],
)
def test_a_bad_change_is_422(bench: Bench, body: object, pointer: str) -> None:
    bench.put_fault("slow")
    assert pointers(problem(patch(bench, body), 422)) == [("body", pointer)]


def test_a_dry_run_predicts_and_changes_nothing(bench: Bench) -> None:
    bench.put_fault("slow", STRAGGLER | {"intensity": 0.5})
    before = bench.get("/v1/faults/slow")
    found = patch(bench, {"intensity": 1.0}, dry_run="true").json()
    assert found["dry_run"] is True
    assert found["fault"]["intensity"] == 1.0
    step = found["predicted"]["step_seconds"]
    assert step["after"] > 1.15 * step["before"]
    assert found["predicted"]["cut_short"] is False
    paused = patch(bench, {"paused": True}, dry_run="true").json()["predicted"]["step_seconds"]
    assert paused["before"] == step["before"]
    assert paused["after"] < 0.9 * step["before"]
    assert bench.get("/v1/faults/slow") == before
    problem(patch(bench, {"intensity": 2}, dry_run="true"), 422)
    problem(patch(bench, {}, "nobody", dry_run="true"), 404)


def test_a_prediction_leaves_out_what_is_paused(bench: Bench) -> None:
    bench.put_fault("slow")
    changed(bench, {"paused": True})
    step = bench.put_fault("other", dry_run="true").json()["predicted"]["step_seconds"]
    assert step["after"] > 1.3 * step["before"]


@pytest.mark.parametrize(
    ("shape", "levels"),
    [
        ({"shape": "flap", "period_seconds": 4, "duty": 0.5}, [1, 1, 0, 0, 1, 1, 0, 0]),
        ({"shape": "sine", "period_seconds": 4}, [0, 0.5, 1, 0.5, 0, 0.5, 1, 0.5]),
        ({"shape": "exponential", "ramp_up_seconds": 2}, [0, 0.924, 1, 1, 1, 1, 1, 1]),
    ],
)
def test_shapes(bench: Bench, shape: dict[str, Any], levels: list[float]) -> None:
    found = bench.put_fault("slow", STRAGGLER | shape).json()
    assert found["shape"] == shape["shape"]
    seen = []
    for _ in levels:
        seen.append(bench.get("/v1/faults/slow")["effective_intensity"])
        bench.turn(1)
    assert seen == pytest.approx(levels, abs=0.001)
