from __future__ import annotations

import pytest

from simulator.presets import PRESETS
from simulator.snapshot import Started
from tests.api.conftest import Bench, pointers, problem


def test_the_job_that_runs(bench: Bench) -> None:
    found = bench.get("/v1/job")
    assert found["run"]["preset"] == "workshop-4gpu"
    assert found["run"]["ranks"] == 4
    assert found["started_at"] == "2023-11-14T22:13:19.000Z"


def test_presets(bench: Bench) -> None:
    found = bench.get("/v1/presets")["presets"]
    assert [preset["preset"] for preset in found] == list(PRESETS)


def test_another_job_is_another_run(bench: Bench) -> None:
    bench.put_fault("slow")
    before = bench.get("/v1/job")["run"]
    answer = bench.client.put("/v1/job", json={"preset": "anatomy-32gpu", "seed": 11})
    assert answer.status_code == 200
    run = answer.json()["run"]
    assert (run["preset"], run["seed"], run["ranks"], run["nodes"]) == ("anatomy-32gpu", 11, 32, 4)
    assert run["run"] != before["run"]
    assert bench.get("/v1/faults") == {"faults": []}
    assert bench.get("/v1/state")["run"] == run
    events = [event["event"] for event in bench.get("/v1/events")["events"]]
    assert events[-3:] == ["aborted", "run_ended", "run_started"]


@pytest.mark.parametrize("seed", [{}, {"seed": None}])
def test_without_a_seed_it_keeps_the_old_one(bench: Bench, seed: dict[str, None]) -> None:
    answer = bench.client.put("/v1/job", json={"preset": "trap-87"} | seed)
    assert answer.json()["run"]["seed"] == 7


def test_a_whole_number_may_be_written_with_a_point(bench: Bench) -> None:
    assert bench.client.put("/v1/job", json={"preset": "trap-87", "seed": 5.0}).json()["run"]["seed"] == 5


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({}, "/preset"),
        ({"preset": "trap"}, "/preset"),
        ({"preset": 1}, "/preset"),
        ({"preset": "trap-87", "seed": -1}, "/seed"),
        ({"preset": "trap-87", "seed": 2**32}, "/seed"),
        ({"preset": "trap-87", "seed": True}, "/seed"),
        ({"preset": "trap-87", "seed": "1"}, "/seed"),
        ({"preset": "trap-87", "seed": 1.5}, "/seed"),
        ({"preset": "trap-87", "run": "mine"}, "/run"),
        ([], ""),
    ],
)
def test_a_bad_job_is_refused_and_the_run_goes_on(bench: Bench, body: object, pointer: str) -> None:
    before = bench.get("/v1/job")
    assert pointers(problem(bench.client.put("/v1/job", json=body), 422)) == [("body", pointer)]
    assert bench.get("/v1/job") == before


def test_an_unknown_preset_lists_the_valid_ones(bench: Bench) -> None:
    detail = problem(bench.client.put("/v1/job", json={"preset": "trap"}), 422)["detail"]
    assert all(name in detail for name in PRESETS)


def test_before_the_first_second_there_is_no_job_to_show(idle: Bench) -> None:
    answer = idle.client.get("/v1/job")
    problem(answer, 503)
    assert answer.headers["retry-after"] == "1"


def test_the_answer_is_about_the_run_that_was_asked_for(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    start = bench.engine.start_job

    def then_somebody_else(preset: str, *, seed: int) -> Started:
        started = start(preset, seed=seed)
        start("trap-87", seed=1)
        return started

    monkeypatch.setattr(bench.engine, "start_job", then_somebody_else)
    run = bench.client.put("/v1/job", json={"preset": "anatomy-32gpu", "seed": 5}).json()["run"]
    assert (run["run"], run["preset"], run["seed"]) == ("anatomy-32gpu-2", "anatomy-32gpu", 5)
    assert bench.get("/v1/job")["run"]["run"] == "trap-87-3"


def test_the_answer_says_how_many_faults_ended(bench: Bench) -> None:
    bench.put_fault("slow")
    bench.put_fault("later", {"kind": "none", "start_after_seconds": 60, "open_ended": True})
    bench.put_fault("over")
    bench.client.delete("/v1/faults/over")
    bench.turn(1)
    assert bench.client.put("/v1/job", json={"preset": "trap-87"}).json()["faults_ended"] == 2
    assert bench.client.put("/v1/job", json={"preset": "trap-87"}).json()["faults_ended"] == 0
