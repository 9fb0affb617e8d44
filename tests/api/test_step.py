from __future__ import annotations

from typing import Any

import pytest

from tests.api.conftest import STRAGGLER, Bench, pointers, problem


def step(bench: Bench, query: str = "") -> dict[str, Any]:
    return bench.get(f"/v1/step{query}")


def test_the_healthy_step_stands_beside_the_broken_one(bench: Bench) -> None:
    assert step(bench, "?healthy=true") | {"healthy": False, "start_seconds": 0} == step(bench) | {"start_seconds": 0}
    bench.put_fault("slow", STRAGGLER)
    bench.turn(3)
    broken, healthy = step(bench), step(bench, "?healthy=true")
    assert (broken["healthy"], healthy["healthy"]) == (False, True)
    assert broken["step"] == healthy["step"]
    assert broken["duration_seconds"] > 1.2 * healthy["duration_seconds"]


def test_slowest_and_fastest_are_whom_the_others_wait_for_and_who_waits_longest(bench: Bench) -> None:
    bench.put_fault("slow", STRAGGLER)
    bench.turn(3)
    found = step(bench)
    waits = {rank["rank"]: rank["seconds"]["collective_wait"] for rank in found["ranks"]}
    assert found["slowest"]["rank"] == found["slowest_rank"] == min(waits, key=lambda rank: waits[rank]) == 2
    assert found["fastest"]["rank"] == max(waits, key=lambda rank: waits[rank])
    assert found["collectives"]["barrier_seconds"] == pytest.approx(found["slowest"]["starts"]["collective_wait"])


def test_the_band_holds_nine_of_ten_ranks() -> None:
    bench = Bench(preset="anatomy-32gpu")
    bench.engine.pump()
    bench.turn(2)
    found = step(bench)
    for phase in ("forward", "backward"):
        ends = [rank["starts"][phase] + rank["seconds"][phase] for rank in found["ranks"]]
        inside = [found["band"]["early"][phase] <= end <= found["band"]["late"][phase] for end in ends]
        assert sum(inside) == 28


def test_buckets_are_at_most_what_can_be_drawn_and_leave_during_backward(bench: Bench) -> None:
    found = step(bench)
    buckets = found["collectives"]["buckets"]
    assert len(buckets) == 64
    assert sum(bucket["count"] for bucket in buckets) == found["collectives"]["count"] == 93
    assert buckets[0]["start_seconds"] < found["collectives"]["barrier_seconds"] < buckets[-1]["end_seconds"]


def test_a_trace_is_a_file_that_trace_viewers_read(bench: Bench) -> None:
    bench.put_fault("slow", STRAGGLER)
    bench.turn(3)
    answer = bench.client.get("/v1/step?format=trace")
    assert answer.headers["content-type"] == "application/json"
    found, shown = answer.json(), step(bench)
    name = f'attachment; filename="workshop-4gpu-step-{shown["step"]}.trace.json"'
    assert answer.headers["content-disposition"] == name
    # The JSON Object Format of the trace event format: metadata events name, complete events last, in microseconds.
    events = found["traceEvents"]
    assert {event["ph"] for event in events} == {"M", "X", "i"}
    for event in events:
        needed = {
            "M": {"name", "ph", "pid", "tid", "args"},
            "X": {"name", "cat", "ph", "ts", "dur", "pid", "tid", "args"},
            "i": {"name", "cat", "ph", "ts", "pid", "tid", "s"},
        }[event["ph"]]
        assert set(event) == needed
        assert all(isinstance(event[key], int) for key in ("pid", "tid"))
    named = {event["pid"] for event in events if event["name"] == "process_name"}
    assert {event["pid"] for event in events} == named
    threads = {event["tid"]: event["args"]["name"] for event in events if event["name"] == "thread_name"}
    assert threads[2] == "rank 2, GPU 2"


def test_the_events_of_a_rank_are_its_phases_one_after_the_other(bench: Bench) -> None:
    found, shown = bench.get("/v1/step?format=trace"), step(bench)
    for rank in shown["ranks"]:
        events = [event for event in found["traceEvents"] if event["ph"] == "X" and event["tid"] == rank["rank"]]
        phases = [event for event in events if event["pid"] == 0]
        assert {event["name"]: event["dur"] for event in phases} == pytest.approx(
            {name: 1e6 * seconds for name, seconds in rank["seconds"].items() if seconds > 0}
        )
        ends = [event["ts"] + event["dur"] for event in phases]
        assert [event["ts"] for event in phases[1:]] == pytest.approx(ends[:-1])
        assert ends[-1] == pytest.approx(1e6 * shown["duration_seconds"])


def test_a_trace_keeps_to_the_ranks_asked_for_and_says_when_it_is_the_healthy_one() -> None:
    bench = Bench(preset="anatomy-32gpu")
    bench.engine.pump()
    bench.turn(2)
    found = bench.get("/v1/step?format=trace&healthy=true&first_rank=14&limit=4")
    names = {event["args"]["name"] for event in found["traceEvents"] if event["ph"] == "M"}
    assert {"node-01", "node-02", "collectives"} == {name for name in names if not name.startswith("rank")}
    assert sum(name.startswith("rank") for name in names) == 4
    assert found["otherData"]["healthy"] == "true"


@pytest.mark.parametrize("query", ["format=chrome", "healthy=yes", "format="])
def test_another_format_is_refused(bench: Bench, query: str) -> None:
    found = problem(bench.client.get(f"/v1/step?{query}"), 422)
    assert pointers(found) == [("query", "/" + query.split("=")[0])]


def test_history_says_where_the_time_went(bench: Bench) -> None:
    bench.turn(5)
    bench.put_fault("late", {"kind": "io_starvation", "params": {"mode": "tail"}, "open_ended": True})
    bench.turn(6)
    found, now = bench.get("/v1/history"), bench.get("/v1/state")["last_tick"]["phases"]
    assert found["data_wait"][-1] == pytest.approx(now["data_wait"])
    assert found["communication"][-1] == pytest.approx(now["collective_wait"] + now["collective"])
    assert found["communication"][-1] > 3 * found["communication"][3]
    assert found["data_wait"][-1] > found["data_wait"][3] + 0.03
