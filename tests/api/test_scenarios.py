"""`/v1/scenarios` and `/v1/playbacks`."""

from __future__ import annotations

from typing import Any

import pytest

from faults.scenario_files import scenarios
from faults.spec import FaultSpec
from stepscope.api.playbacks import Playback, Playbacks
from tests.api.conftest import TOKEN, Bench, pointers, problem

BEARER = {"Authorization": f"Bearer {TOKEN}"}
OWN: dict[str, Any] = {
    "id": "mine",
    "title": "Mine",
    "question": "Which?",
    "preset": "workshop-4gpu",
    "duration_seconds": 60,
    "timeline": [
        {"at_seconds": 10, "fault": {"kind": "straggler", "duration_seconds": 20}},
        {"at_seconds": 20, "fault": {"kind": "none", "open_ended": True}},
    ],
    "answer": {"cause": "straggler", "remedy": "replace it"},
}


def play(bench: Bench, scenario: object = "film", **more: Any) -> dict[str, Any]:
    answer = bench.client.post("/v1/playbacks", json={"scenario": scenario} | more)
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()
    assert answer.headers["location"] == f"/v1/playbacks/{found['id']}"
    return found


def state(bench: Bench, playback: dict[str, Any]) -> str:
    return str(bench.get(f"/v1/playbacks/{playback['id']}")["state"])


def test_the_list_asks_and_does_not_answer(bench: Bench) -> None:
    found = bench.get("/v1/scenarios")["scenarios"]
    assert [one["id"] for one in found] == list(scenarios())
    assert found[0].keys() == {"id", "title", "question", "preset", "seed", "duration_seconds", "hints"}
    assert bench.get("/v1/scenarios/film") == next(one for one in found if one["id"] == "film")


def test_answers_are_behind_the_token_also_on_loopback(bench: Bench) -> None:
    problem(bench.client.get("/v1/scenarios/film/answer"), 401)
    problem(bench.client.get("/v1/scenarios/nothing/answer"), 401)
    found = bench.get("/v1/scenarios/film/answer", **BEARER)
    assert [one["cause"] for one in found["answers"]] == ["io_starvation", "gradient_explosion"]
    problem(bench.client.get("/v1/scenarios/nothing/answer", headers=BEARER), 404)


def test_a_playback_is_a_new_run_with_its_faults_to_come(bench: Bench) -> None:
    bench.put_fault("old")
    before = bench.get("/v1/job")["run"]["run"]
    playback = play(bench, seed=5)
    job = bench.get("/v1/job")["run"]
    assert (job["run"], job["seed"], job["preset"]) == (playback["run"], 5, "workshop-4gpu")
    assert job["run"] != before
    faults = bench.get("/v1/faults")["faults"]
    assert [(one["name"], one["kind"], one["state"]) for one in faults] == [
        ("film.1", "io_starvation", "pending"),
        ("film.2", "gradient_explosion", "pending"),
    ]
    bench.turn(61)
    assert bench.get("/v1/faults/film.1")["state"] == "active"
    assert bench.get("/v1/history")["mfu"][-1] < 0.8 * bench.get("/v1/history")["mfu"][30]


def test_a_faster_timeline_leaves_the_clock_of_the_job(bench: Bench) -> None:
    playback = play(bench, speed=10)
    bench.turn(6)
    assert bench.get("/v1/faults/film.1")["state"] == "active"
    found = bench.get(f"/v1/playbacks/{playback['id']}")
    assert found["elapsed_seconds"] == pytest.approx(70)
    bench.turn(24)
    assert state(bench, playback) == "over"
    assert bench.get(f"/v1/playbacks/{playback['id']}")["elapsed_seconds"] == 300


def test_stop_clears_what_is_left_and_the_run_goes_on(bench: Bench) -> None:
    playback = play(bench, speed=10)
    bench.turn(7)
    path = f"/v1/playbacks/{playback['id']}"
    assert bench.client.delete(path).status_code == 204
    assert state(bench, playback) == "stopped"
    assert {one["state"] for one in bench.get("/v1/faults")["faults"]} == {"cleared"}
    assert bench.get("/v1/job")["run"]["run"] == playback["run"]
    assert bench.client.delete(path).status_code == 204


def test_another_run_replaces_it_and_keeps_its_faults(bench: Bench) -> None:
    first = play(bench)
    second = play(bench)
    assert [state(bench, one) for one in (first, second)] == ["replaced", "playing"]
    assert bench.client.delete(f"/v1/playbacks/{first['id']}").status_code == 204
    assert {one["state"] for one in bench.get("/v1/faults")["faults"]} == {"pending"}
    assert [one["id"] for one in bench.get("/v1/playbacks")["playbacks"]] == [first["id"], second["id"]]


@pytest.mark.parametrize("its_faults", [{}, {"mine.1": FaultSpec("straggler", open_ended=True)}], ids=["none", "alike"])
def test_a_run_that_takes_its_place_in_that_moment_is_left_alone(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, its_faults: dict[str, FaultSpec]
) -> None:
    playback = play(bench, OWN)
    look = Playbacks.state

    def looked_at_too_early(self: Playbacks, one: Playback) -> str:
        seen = look(self, one)
        bench.engine.start_job("trap-87", seed=1, faults=its_faults)
        return seen

    with monkeypatch.context() as patched:
        patched.setattr(Playbacks, "state", looked_at_too_early)
        assert bench.client.delete(f"/v1/playbacks/{playback['id']}").status_code == 204
    assert state(bench, playback) == "replaced"
    assert bench.get("/v1/job")["run"]["preset"] == "trap-87"
    left = {one["name"]: one["state"] for one in bench.get("/v1/faults")["faults"]}
    assert left.keys() == its_faults.keys()
    assert "cleared" not in left.values()


def test_one_of_your_own(bench: Bench) -> None:
    playback = play(bench, OWN)
    assert playback["id"] == "mine-1"
    assert [one["name"] for one in bench.get("/v1/faults")["faults"]] == ["mine.1", "mine.2"]


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({}, "/scenario"),
        ({"scenario": "nothing"}, "/scenario"),
        ({"scenario": 3}, "/scenario"),
        ({"scenario": "film", "speed": 0}, "/speed"),
        ({"scenario": "film", "seed": "1"}, "/seed"),
        ({"scenario": "film", "faster": 1}, "/faster"),
        ({"scenario": OWN | {"preset": "nothing"}}, "/scenario/preset"),
        ({"scenario": OWN | {"id": ""}}, "/scenario/id"),
        (
            {"scenario": OWN | {"timeline": [*OWN["timeline"], {"at_seconds": 1, "fault": {"kind": "straggler",
             "open_ended": True, "target": {"mode": "ranks", "value": [9]}}}]}},
            "/scenario/timeline/2/fault/target/value",
        ),
        (
            {"scenario": OWN | {"timeline": [{"at_seconds": 1, "fault": {"kind": "network_tail_latency",
             "open_ended": True}}]}},
            "/scenario/timeline/0/fault/kind",
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_played_is_named_and_changes_nothing(bench: Bench, body: object, pointer: str) -> None:
    before = bench.get("/v1/job")["run"]["run"]
    bench.put_fault("old")
    found = problem(bench.client.post("/v1/playbacks", json=body), 422)
    assert pointers(found)[0][1].startswith(pointer)
    assert bench.get("/v1/job")["run"]["run"] == before
    assert bench.get("/v1/faults/old")["state"] == "active"
    assert bench.get("/v1/playbacks") == {"playbacks": []}


def test_unknown_ids(bench: Bench) -> None:
    problem(bench.client.get("/v1/playbacks/film-1"), 404)
    problem(bench.client.delete("/v1/playbacks/film-1"), 404)
    problem(bench.client.get("/v1/scenarios/nothing"), 404)


def test_only_the_last_ones_are_remembered(bench: Bench) -> None:
    for _ in range(66):
        play(bench, OWN | {"timeline": []})
    found = bench.get("/v1/playbacks")["playbacks"]
    assert [found[0]["id"], found[-1]["id"], len(found)] == ["mine-3", "mine-66", 64]
