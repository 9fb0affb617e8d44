from __future__ import annotations

from typing import Any

import pytest

from stepscope.api.settings import Settings
from tests.api.conftest import STRAGGLER, TOKEN, Bench, pointers, problem
from tests.api.exam_room import BEARER, Room

WRONG = {"cause": "healthy", "rank": None, "remedy": "none"}
ONE_RANK = {"kinds": ["power_cap"], "decoys": False}


@pytest.fixture
def room(bench: Bench) -> Room:
    return Room(bench)


def test_a_whole_exam_of_two_participants_and_a_facilitator(room: Room) -> None:
    assert room.bench.get("/v1/exam")["state"] == "idle"
    begun = room.start(duration_seconds=600, hint_cost=10, **ONE_RANK)
    assert (begun["state"], begun["remaining_seconds"], begun["hints"]) == ("running", 600, 3)
    ada, bob = room.join("Ada"), room.join("Bob <b>")
    room.bench.turn(60)
    assert room.hint(bob, 1).json()["number"] == 1
    assert room.answer(ada, WRONG).status_code == 200
    room.bench.turn(60)
    right = room.right()
    assert right["rank"] is not None
    assert room.answer(ada, right).status_code == 200
    room.bench.turn(180)
    assert room.answer(bob, right).status_code == 200
    shown = room.board()
    assert list(shown) == ["Ada", "Bob <b>"]
    assert [row["answered_after_seconds"] for row in shown.values()] == [120, 300]
    assert all(row["points"] is None and row["marks"] is None for row in shown.values())
    assert [row["points"] for row in room.truth()["board"]] == [90, 65]

    room.control("stop")
    assert room.bench.get("/v1/exam")["remaining_seconds"] == 0
    problem(room.answer(bob, WRONG), 409)
    assert room.bench.get("/v1/exam/me", **ada)["points"] is None
    revealed = room.control("reveal")
    assert revealed["truth"] == room.truth()["truth"]
    assert [(row["name"], row["points"]) for row in revealed["board"]] == [("Ada", 90), ("Bob <b>", 65)]
    assert room.bench.get("/v1/exam/me", **bob)["points"] == 65
    assert {fault["name"] for fault in room.bench.get("/v1/faults")["faults"]} == {"cause-1"}
    assert room.control("forget")["state"] == "idle"
    problem(room.client.get("/v1/exam/me", headers=ada), 401)


def test_the_run_of_an_exam_is_broken_as_its_answer_says(room: Room) -> None:
    room.start(onset_within_seconds=8, **ONE_RANK)
    found = room.truth()
    faults = room.bench.get("/v1/faults", **BEARER)["faults"]
    assert [fault["kind"] for fault in faults] == [found["truth"][0]["cause"]] == ["power_cap"]
    assert faults[0]["resolved_targets"] == found["truth"][0]["ranks"]
    room.bench.turn(12)
    assert room.bench.get("/v1/faults", **BEARER)["faults"][0]["state"] == "active"


def test_the_remedies_that_count_as_right_end_the_fault(room: Room) -> None:
    room.start(onset_within_seconds=8, **ONE_RANK)
    room.bench.turn(12)
    found = room.truth()["truth"][0]
    assert "power_limit" in found["remedies"]
    cure = {"remedy": "power_limit", "target": {"mode": "ranks", "value": found["ranks"]}}
    assert room.client.post("/v1/remedies", json=cure, headers=BEARER).status_code == 201
    assert room.bench.get("/v1/faults", **BEARER)["faults"][0]["state"] == "cleared"


def test_a_scenario_can_be_the_exam(room: Room) -> None:
    room.start(scenario="one-of-four")
    answers = room.client.get("/v1/scenarios/one-of-four/answer", headers=BEARER).json()["answers"]
    truth = room.truth()["truth"]
    assert [one["cause"] for one in truth] == [one["cause"] for one in answers]
    for one, other in zip(truth, answers, strict=True):
        assert other["rank"] is None or other["rank"] in one["ranks"]


def test_nothing_to_find_is_an_exam_too(room: Room) -> None:
    room.start(causes=0)
    assert room.truth()["truth"] == [{"cause": "healthy", "ranks": None, "remedies": ["none"]}]
    ada = room.join("Ada")
    room.answer(ada, WRONG)
    assert room.truth()["board"][0]["points"] == 100


def test_an_exam_ends_by_itself_and_can_be_extended(room: Room) -> None:
    room.start(duration_seconds=60)
    ada = room.join("Ada")
    room.bench.turn(59)
    assert room.control("extend", {"seconds": 60})["remaining_seconds"] == 61
    room.bench.turn(60)
    assert room.answer(ada, WRONG).status_code == 200
    room.bench.turn(1)
    assert room.bench.get("/v1/exam")["state"] == "ended"
    for late in (room.answer(ada, WRONG), room.hint(ada, 1)):
        assert problem(late, 409)["type"].endswith("exam-state")
    problem(room.client.post("/v1/exam/participants", json={"name": "Late"}), 409)
    problem(room.client.post("/v1/exam/extend", json={"seconds": 60}, headers=BEARER), 409)
    assert room.bench.get("/v1/exam")["truth"] is None
    assert room.control("reveal")["truth"]


def test_no_exam_lasts_for_ever(room: Room) -> None:
    room.start(duration_seconds=4 * 3600)
    problem(room.client.post("/v1/exam/extend", json={"seconds": 1}, headers=BEARER), 409)


def test_one_exam_at_a_time_and_a_new_one_knows_nobody(room: Room) -> None:
    room.start()
    ada = room.join("Ada")
    problem(room.client.post("/v1/exam/start", json={}, headers=BEARER), 409)
    problem(room.client.post("/v1/exam/reveal", headers=BEARER), 409)
    room.control("stop")
    problem(room.client.post("/v1/exam/start", json={}, headers=BEARER), 409)
    room.control("reveal")
    assert room.start()["board"] == []
    problem(room.client.get("/v1/exam/me", headers=ada), 401)


def test_a_start_that_fails_changes_nothing(room: Room) -> None:
    run = room.bench.get("/v1/job")["run"]["run"]
    refused = room.client.post("/v1/exam/start", json={"kinds": ["network_tail_latency"]}, headers=BEARER)
    assert pointers(problem(refused, 422)) == [("body", "/kinds")]
    assert room.bench.get("/v1/exam")["state"] == "idle"
    assert room.bench.get("/v1/job")["run"]["run"] == run
    assert room.client.get("/v1/faults").status_code == 200


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"duration_seconds": 10}, "/duration_seconds"),
        ({"hint_cost": 51}, "/hint_cost"),
        ({"scenario": "nothing"}, "/scenario"),
        ({"preset": "nothing"}, "/preset"),
        ({"kinds": ["none"]}, "/kinds/0"),
        ({"kinds": ["straggler", "straggler"]}, "/kinds"),
        ({"causes": 4}, "/causes"),
        ({"seed": 1}, "/seed"),
    ],
)
def test_a_start_says_what_is_wrong_with_it(room: Room, body: dict[str, Any], pointer: str) -> None:
    refused = room.client.post("/v1/exam/start", json=body, headers=BEARER)
    assert ("body", pointer) in pointers(problem(refused, 422))


def test_a_participant_can_be_taken_out(room: Room) -> None:
    room.start()
    ada = room.join("Ada")
    id_ = room.board()["Ada"]["id"]
    assert room.client.delete(f"/v1/exam/participants/{id_}", headers=BEARER).status_code == 204
    assert room.board() == {}
    problem(room.answer(ada, WRONG), 401)
    problem(room.client.delete(f"/v1/exam/participants/{id_}", headers=BEARER), 404)
    assert room.join("Ada") != ada


def test_hints_come_in_order_and_cost_once(room: Room) -> None:
    room.start(hint_cost=30, **ONE_RANK)
    ada = room.join("Ada")
    assert "next one is 1" in problem(room.hint(ada, 2), 409)["detail"]
    first = room.hint(ada, 1).json()
    assert room.hint(ada, 1).json() == first
    texts = [first["text"], room.hint(ada, 2).json()["text"], room.hint(ada, 3).json()["text"]]
    assert texts == room.truth()["hints"]
    problem(room.hint(ada, 4), 404)
    assert room.bench.get("/v1/exam/me", **ada)["hints"] == texts
    room.answer(ada, room.right())
    assert room.truth()["board"][0]["points"] == pytest.approx(10, abs=1)


def test_those_who_take_part_need_no_token_where_writes_do() -> None:
    bench = Bench(Settings(host="0.0.0.0", token=TOKEN, token_is_made=False))
    bench.engine.pump()
    room = Room(bench)
    room.start()
    ada = room.join("Ada")
    assert room.answer(ada, WRONG).status_code == 200
    problem(room.client.put("/v1/faults/a", json=STRAGGLER, headers=ada), 401)
