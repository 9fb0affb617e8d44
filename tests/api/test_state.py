from __future__ import annotations

import dataclasses
import math
from typing import Any

import pydantic
import pytest

from simulator.names import PHASES
from simulator.observation import RunInfo
from stepscope.api import views
from stepscope.api.fresh import Fresh
from stepscope.api.models.base import PhaseValues
from stepscope.api.models.state import RunView
from tests.api.conftest import STRAGGLER, Bench, pointers, problem


def test_the_phases_are_those_of_the_model() -> None:
    assert tuple(PhaseValues.model_fields) == PHASES


def test_a_healthy_state(bench: Bench) -> None:
    bench.turn(70)
    found = bench.get("/v1/state")
    assert found["position"]["failure"] is None
    assert found["position"]["tick"] == 72
    for block in ("last_tick", "last_minute", "reference"):
        gauges = found[block]
        assert 0.40 <= gauges["mfu"] <= 0.45, block
        assert gauges["gpu_util_percent"] >= 99.5, block
        assert sum(gauges["phases"].values()) == pytest.approx(1.0, abs=1e-9), block
        rate = gauges["tokens_per_second"]
        assert gauges["tokens_per_second_per_gpu"] == pytest.approx(rate / 4)
    assert found["last_minute"]["span_seconds"] == 60
    assert found["last_minute"]["step_seconds"] == pytest.approx(found["reference"]["step_seconds"], rel=0.02)


def test_the_minute_comes_from_the_counters(bench: Bench) -> None:
    bench.turn(30)
    first = bench.engine.history.samples()[-1]
    bench.put_fault("slow")
    bench.turn(60)
    last = bench.engine.tick
    assert last is not None
    found = bench.get("/v1/state")["last_minute"]
    flops = last.counters.model_flops - first.model_flops
    stepping = last.counters.step_seconds_sum - first.step_seconds_sum
    assert found["mfu"] == pytest.approx(flops / stepping / last.info.peak_flops_per_second)
    waited = last.counters.phase_seconds[PHASES.index("collective_wait")].mean() - first.phase_seconds[4]
    assert found["phases"]["collective_wait"] == pytest.approx(waited / 60)


def test_one_tick_makes_no_minute(idle: Bench) -> None:
    idle.engine.pump()
    found = idle.get("/v1/state")
    assert found["last_minute"] is None
    assert sum(found["last_tick"]["phases"].values()) == pytest.approx(1.0)


def test_the_reference_stays_healthy_when_the_job_does_not(bench: Bench) -> None:
    before = bench.get("/v1/state")["reference"]
    bench.put_fault("slow")
    bench.turn(5)
    found = bench.get("/v1/state")
    assert found["reference"] == before
    assert found["last_tick"]["mfu"] < 0.8 * before["mfu"]


def test_the_reference_follows_the_job(bench: Bench) -> None:
    bench.get("/v1/state")
    bench.client.put("/v1/job", json={"preset": "trap-87"})
    assert bench.get("/v1/state")["reference"]["mfu"] < 0.1


def test_ranks_are_paged() -> None:
    bench = Bench(preset="anatomy-32gpu")
    bench.engine.pump()

    def ranks(path: str) -> list[int]:
        found = bench.get(path)
        assert found["ranks_total"] == 32
        return [rank["rank"] for rank in found["ranks"]]

    for path in ("/v1/state", "/v1/step"):
        assert ranks(path) == list(range(32))
        assert ranks(f"{path}?first_rank=30&limit=5") == [30, 31]
        assert ranks(f"{path}?limit=1") == [0]
        assert ranks(f"{path}?first_rank=999999999999") == []
    assert bench.get("/v1/state?first_rank=9&limit=1")["ranks"][0]["hostname"] == "node-01"


@pytest.mark.parametrize("query", ["limit=0", "limit=1025", "limit=-1", "limit=1e1", "first_rank=-1", "first_rank=a"])
@pytest.mark.parametrize("path", ["/v1/state", "/v1/step"])
def test_a_bad_page_is_refused(bench: Bench, path: str, query: str) -> None:
    assert pointers(problem(bench.client.get(f"{path}?{query}"), 422)) == [("query", "/" + query.split("=")[0])]


def test_the_phases_of_a_step_add_up_on_every_rank(bench: Bench) -> None:
    bench.put_fault("slow", STRAGGLER)
    bench.turn(3)
    found = bench.get("/v1/step")
    assert found["slowest_rank"] == 2
    assert len(found["ranks"]) == 4
    for rank in found["ranks"]:
        assert sum(rank["seconds"].values()) == pytest.approx(found["duration_seconds"], rel=1e-9)
        starts, seconds = list(rank["starts"].values()), list(rank["seconds"].values())
        ends = [start + length for start, length in zip(starts, seconds, strict=True)]
        assert starts[1:] == pytest.approx(ends[:-1], abs=1e-9)
    waits = {rank["rank"]: rank["seconds"]["collective_wait"] for rank in found["ranks"]}
    assert min(waits, key=lambda rank: waits[rank]) == 2


def test_history_has_a_value_per_second(bench: Bench) -> None:
    bench.turn(4)
    found = bench.get("/v1/history")
    assert {len(column) for name, column in found.items() if name != "run"} == {7}
    assert found["time"] == sorted(found["time"])


def test_history_is_five_minutes_at_most(bench: Bench) -> None:
    bench.turn(400)
    assert len(bench.get("/v1/history")["time"]) == 300


@pytest.mark.parametrize("path", ["/v1/state", "/v1/step", "/v1/history"])
def test_before_the_first_second_there_is_nothing_to_say(idle: Bench, path: str) -> None:
    answer = idle.client.get(path)
    problem(answer, 503)
    assert answer.headers["retry-after"] == "1"


def test_before_a_run_has_ended_a_step_there_is_none() -> None:
    young = Bench(preset="llama3-405b-16k")
    young.turn(1)
    answer = young.client.get("/v1/step")
    assert problem(answer, 404)["type"].endswith(":no-step-yet")
    assert answer.headers["retry-after"] == "1"
    assert young.get("/v1/state?limit=1")["ranks_total"] == 16384


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_is_not_finite_is_null_and_said(bench: Bench, value: float) -> None:
    tick = bench.engine.tick
    assert tick is not None
    learned = dataclasses.replace(tick.learning, loss=value, grad_norm=value)
    found = views.learning(dataclasses.replace(tick, learning=learned)).model_dump_json()
    assert '"loss":null,"loss_finite":false,"grad_norm":null,"grad_norm_finite":false' in found


def test_a_stopped_engine_is_said(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench.engine, "failure", "ValueError: broken")
    assert bench.get("/v1/state")["position"]["failure"] == "ValueError: broken"


def test_a_state_is_of_one_run_whatever_happens_meanwhile(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    before = bench.get("/v1/state")
    view = views.run_view

    def then_another_job(info: RunInfo) -> RunView:
        bench.engine.start_job("trap-87", seed=1)
        return view(info)

    monkeypatch.setattr(views, "run_view", then_another_job)
    # Another question, whose answer is not there yet.
    assert bench.get("/v1/state?limit=63") == before
    monkeypatch.undo()
    assert bench.get("/v1/state")["run"]["preset"] == "trap-87"


@pytest.mark.parametrize("path", ["/v1/state", "/v1/step", "/v1/history"])
def test_a_room_of_viewers_costs_one_answer_per_second(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    written: list[str] = []
    write = pydantic.BaseModel.model_dump_json

    def counting(self: pydantic.BaseModel, **options: Any) -> str:
        written.append(type(self).__name__)
        return write(self, **options)

    monkeypatch.setattr(pydantic.BaseModel, "model_dump_json", counting)
    answers = [bench.get(path) for _ in range(50)]
    assert len(written) == 1
    assert all(answer == answers[0] for answer in answers)
    bench.turn(1)
    assert bench.get(path) != answers[0]
    assert len(written) == 2


def test_an_event_between_two_seconds_is_seen_at_once(bench: Bench) -> None:
    before = bench.get("/v1/state")["position"]["last_event"]
    bench.put_fault("slow")
    assert bench.get("/v1/state")["position"]["last_event"] == before + 1


def test_what_was_written_late_is_not_shown_later() -> None:
    fresh = Fresh()
    assert fresh.body(1, "a", lambda: fresh.body(2, "a", lambda: "new") and "old") == "old"
    assert fresh.body(2, "a", lambda: "again") == "new"
    assert fresh.body(1, "a", lambda: "once more") == "once more"
