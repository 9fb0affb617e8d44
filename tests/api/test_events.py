from __future__ import annotations

import pytest

from stepscope.api.models.events import EventView
from tests.api.conftest import Bench, pointers, problem


def test_the_log_says_what_happened_and_when(bench: Bench) -> None:
    bench.put_fault("slow")
    bench.turn(1)
    bench.client.delete("/v1/faults/slow")
    bench.turn(1)
    found = bench.get("/v1/events")
    told = [(event["event"], event["name"], event["kind"]) for event in found["events"]]
    assert told[0] == ("run_started", None, None)
    assert ("created", "slow", "straggler") in told
    assert ("cleared", "slow", "straggler") in told
    assert [event["seq"] for event in found["events"]] == list(range(1, len(told) + 1))
    assert found["last_seq"] == len(told)
    assert found["missed"] is False
    for event in found["events"]:
        EventView.model_validate(event)


def test_after_gives_only_what_is_newer(bench: Bench) -> None:
    last = bench.get("/v1/events")["last_seq"]
    assert bench.get(f"/v1/events?after={last}") == {"events": [], "last_seq": last, "missed": False}
    bench.put_fault("slow")
    found = bench.get(f"/v1/events?after={last}")
    assert found["events"][0]["event"] == "created"
    assert found["last_seq"] > last


def test_what_has_been_dropped_is_said(bench: Bench) -> None:
    for _ in range(10_001):
        bench.engine.journal.add(bench.engine._run, "noise")
    found = bench.get("/v1/events")
    assert len(found["events"]) == 10_000
    assert found["missed"] is True
    assert bench.get(f"/v1/events?after={found['events'][0]['seq']}")["missed"] is False


def test_a_number_of_a_log_before_this_one_gets_the_whole_log(bench: Bench) -> None:
    bench.put_fault("slow")
    whole = bench.get("/v1/events")
    assert bench.get("/v1/events?after=5000") == whole | {"missed": True}


def test_the_log_can_be_read_in_pieces(bench: Bench) -> None:
    journal = bench.engine.journal
    for _ in range(10):
        journal.add(bench.engine._run, "noise")
    assert [entry.seq for entry in journal.after(0, most=3)] == [1, 2, 3]
    assert [entry.seq for entry in journal.after(3, most=3)] == [4, 5, 6]
    assert [entry.seq for entry in journal.after(10, most=3)] == [11]
    assert journal.after(11) == journal.after(99) == []


@pytest.mark.parametrize("query", ["after=-1", "after=x", "after=", "after=1&after=2", "since=1"])
@pytest.mark.parametrize("path", ["/v1/events", "/v1/events/stream"])
def test_a_bad_place_in_the_log_is_refused(bench: Bench, path: str, query: str) -> None:
    found = pointers(problem(bench.client.get(f"{path}?{query}"), 422))
    assert set(found) == {("query", "/" + query.split("=")[0])}


def test_the_stream_needs_a_client_that_takes_it(bench: Bench) -> None:
    problem(bench.client.get("/v1/events/stream", headers={"Accept": "application/json"}), 406)


def test_a_bad_last_event_id_is_refused(bench: Bench) -> None:
    answer = bench.client.get("/v1/events/stream", headers={"Last-Event-ID": "yesterday"})
    assert pointers(problem(answer, 422)) == [("header", "/last-event-id")]


def test_checkpoints_are_logged(bench: Bench) -> None:
    bench.turn(500)
    tick = bench.engine.tick
    assert tick is not None
    found = [event for event in bench.get("/v1/events")["events"] if event["event"] == "checkpoint"]
    assert len(found) == tick.counters.checkpoints == 2
    assert [event["detail"] for event in found] == ["checkpoint 1 of this run", "checkpoint 2 of this run"]
    assert [event["step"] // 1_000 for event in found] == [1, 2]
