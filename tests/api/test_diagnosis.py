"""`GET /v1/diagnosis`: the verdict on the run that goes on, from what it shows."""

from __future__ import annotations

import pytest

from tests.api.conftest import STRAGGLER, Bench, problem


@pytest.mark.parametrize("query", ["", "?window_seconds=45&price_per_gpu_hour=2.5"])
def test_a_straggler_is_named_and_a_healthy_run_has_nothing_to_name(bench: Bench, query: str) -> None:
    bench.turn(80)
    healthy = bench.get(f"/v1/diagnosis{query}")
    assert healthy["verdicts"] == []
    assert healthy["run"] == "workshop-4gpu-1"
    bench.put_fault("slow", STRAGGLER)
    bench.turn(60)
    found = bench.get(f"/v1/diagnosis{query}")
    (verdict,) = found["verdicts"]
    assert verdict["cause"] == "straggler"
    assert verdict["culprit"]["ranks"] == ["2"]
    assert verdict["cost"]["slowdown"] > 1.2
    assert (verdict["cost"]["price_per_hour"] is None) == (not query)
    assert found["sentence"] == verdict["summary"]
    assert [stage["outcome"] for stage in found["pipeline"]].count("not measurable") == 3


def test_a_young_run_is_too_thin_and_one_without_a_second_is_not_ready(idle: Bench) -> None:
    problem(idle.client.get("/v1/diagnosis"), 503)
    idle.engine.pump()
    idle.turn(1)
    assert idle.get("/v1/diagnosis")["abstained"]


def test_a_job_that_stands_still_has_no_step_and_costs_everything(bench: Bench) -> None:
    bench.turn(30)
    bench.put_fault("stuck", {"kind": "hang", "target": {"mode": "ranks", "value": [1]}, "open_ended": True})
    bench.turn(120)
    found = bench.get("/v1/diagnosis")
    assert found["step_seconds"] is None
    assert found["verdicts"][0]["cause"] == "hang"
    assert found["verdicts"][0]["cost"]["slowdown"] is None
    assert found["verdicts"][0]["cost"]["wasted_share"] == 1.0


def test_a_new_run_is_judged_without_the_old_one(bench: Bench) -> None:
    bench.turn(60)
    assert bench.client.put("/v1/job", json={"preset": "trap-87", "seed": 3}).status_code == 200
    bench.turn(1)
    found = bench.get("/v1/diagnosis")
    assert found["run"].startswith("trap-87")
    assert found["scrapes"] <= 1


@pytest.mark.parametrize("query", ["window_seconds=5", "window_seconds=abc", "price_per_gpu_hour=-1", "windowz=3"])
def test_queries_that_mean_nothing_are_refused(bench: Bench, query: str) -> None:
    problem(bench.client.get(f"/v1/diagnosis?{query}"), 422)
