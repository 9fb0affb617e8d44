"""POST: names made by the lab, and requests that may be sent twice."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from stepscope.api.idempotency import Answers
from stepscope.api.problems import ProblemError
from tests.api.conftest import STRAGGLER, Bench, pointers, problem


def post(bench: Bench, body: object = None, key: str | None = None, **query: str) -> Any:
    headers = {} if key is None else {"Idempotency-Key": key}
    return bench.client.post("/v1/faults", json=STRAGGLER if body is None else body, headers=headers, params=query)


def names(bench: Bench) -> list[str]:
    return [fault["name"] for fault in bench.get("/v1/faults")["faults"]]


def test_a_fault_gets_a_name_and_a_place(bench: Bench) -> None:
    answer = post(bench)
    assert answer.status_code == 201
    assert answer.json()["name"] == "straggler-1"
    assert answer.headers["location"] == "/v1/faults/straggler-1"
    assert bench.get(answer.headers["location"]) == answer.json()
    assert post(bench, {"kind": "io_starvation", "open_ended": True}).json()["name"] == "io-starvation-2"


def test_without_a_key_the_same_again_is_another_fault(bench: Bench) -> None:
    assert [post(bench).status_code for _ in range(2)] == [201, 201]
    assert names(bench) == ["straggler-1", "straggler-2"]


@pytest.mark.parametrize("again", ["8e03978e-40d5", '"8e03978e-40d5"'])
def test_the_same_key_and_body_get_the_same_answer(bench: Bench, again: str) -> None:
    first = post(bench, key="8e03978e-40d5")
    bench.turn(3)
    bench.client.delete("/v1/faults/straggler-1")
    second = post(bench, {**dict(reversed(STRAGGLER.items()))}, key=again)
    assert (second.status_code, second.json()) == (201, first.json())
    assert second.headers["location"] == first.headers["location"]
    assert names(bench) == ["straggler-1"]


def test_the_same_key_with_another_body_is_422(bench: Bench) -> None:
    post(bench, key="a")
    found = problem(post(bench, STRAGGLER | {"intensity": 0.5}, key="a"), 422)
    assert found["type"].endswith("idempotency-key-reused")
    assert pointers(found) == [("header", "/idempotency-key")]
    assert names(bench) == ["straggler-1"]


def test_a_refused_request_leaves_its_key_free(bench: Bench) -> None:
    problem(post(bench, {"kind": "stragler"}, key="a"), 422)
    problem(post(bench, STRAGGLER | {"target": {"mode": "ranks", "value": [99]}}, key="a"), 422)
    assert post(bench, key="a").status_code == 201


@pytest.mark.parametrize("key", ["", '"a', 'a"', "a b", "ä", "x" * 256, '""', "a;b=c"])
def test_a_bad_key_is_refused(bench: Bench, key: str) -> None:
    answer = bench.client.post("/v1/faults", json=STRAGGLER, headers=[(b"Idempotency-Key", key.encode())])
    assert [place for place, _ in pointers(problem(answer, 422))] == ["header"]
    assert names(bench) == []


def test_a_dry_run_takes_neither_name_nor_key(bench: Bench) -> None:
    for _ in range(2):
        answer = post(bench, key="a", dry_run="true")
        assert answer.status_code == 200
        assert answer.json()["fault"]["name"] == "straggler-1"
        assert "location" not in answer.headers
    assert names(bench) == []
    assert post(bench, STRAGGLER | {"intensity": 0.5}, key="a").json()["name"] == "straggler-1"


def test_names_that_are_taken_are_left_out(bench: Bench) -> None:
    bench.put_fault("straggler-1")
    assert post(bench).json()["name"] == "straggler-2"


def test_a_kind_that_the_job_cannot_show_is_422_with_its_reason(bench: Bench) -> None:
    found = problem(post(bench, {"kind": "network_tail_latency", "open_ended": True}), 422)
    assert found["type"].endswith("unsupported-fault")
    assert "needs a network between nodes" in found["detail"]
    assert pointers(found) == [("body", "/kind")]


def test_the_oldest_keys_make_room() -> None:
    answers: Answers[int] = Answers(kept=2)
    made = iter(range(10))
    assert [answers.once(key, {}, lambda: next(made)) for key in ("a", "b", "a", "c", "a")] == [0, 1, 0, 2, 3]


def test_two_at_once_with_one_key_are_one() -> None:
    answers: Answers[int] = Answers()
    made = iter(range(10))
    together = threading.Barrier(8)
    found: list[int] = []

    def ask() -> None:
        together.wait()
        found.append(answers.once("a", {}, lambda: next(made)))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [0] * 8


def test_a_request_that_fails_is_not_remembered() -> None:
    answers: Answers[int] = Answers()
    with pytest.raises(ZeroDivisionError):
        answers.once("a", {"x": 1}, lambda: 1 // 0)
    assert answers.once("a", {"x": 2}, lambda: 5) == 5
    with pytest.raises(ProblemError, match="another body"):
        answers.once("a", {"x": 1}, lambda: 6)


def test_the_ranks_of_a_large_job_are_counted_and_given_as_ranges() -> None:
    bench = Bench(preset="llama3-405b-16k")
    found = post(bench, {"kind": "straggler", "target": {"mode": "all"}, "open_ended": True}).json()
    assert found["resolved_count"] == 16_384
    assert found["resolved_ranges"] == [[0, 16_383]]
    assert found["resolved_targets"] == list(range(1_024))
    one = post(bench, {"kind": "straggler", "target": {"mode": "ranks", "value": [5, 7, 6]}, "open_ended": True}).json()
    assert (one["resolved_targets"], one["resolved_count"], one["resolved_ranges"]) == ([5, 6, 7], 3, [[5, 7]])
