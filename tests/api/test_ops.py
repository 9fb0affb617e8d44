from __future__ import annotations

import pytest

from stepscope import __version__
from tests.api.conftest import Bench, problem


def test_alive_before_anything_runs(idle: Bench) -> None:
    assert idle.get("/healthz") == {"status": "ok"}


def test_ready_once_there_is_a_second_to_show(idle: Bench) -> None:
    answer = idle.client.get("/readyz")
    found = problem(answer, 503)
    assert answer.headers["retry-after"] == "1"
    assert found["components"]["engine"] != "ok"
    assert found["components"]["api"] == "ok"
    idle.engine.pump()
    assert idle.get("/readyz") == {"status": "ready", "components": {"engine": "ok", "api": "ok"}}


def test_not_ready_when_the_run_has_crashed(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> None:
        raise ZeroDivisionError("one step too far")

    monkeypatch.setattr(bench.engine._run, "advance", broken)
    bench.turn(1)
    found = problem(bench.client.get("/readyz"), 503)
    assert "ZeroDivisionError" in found["components"]["engine"]
    assert found["detail"].count("engine: stopped") == 1
    assert bench.get("/healthz") == {"status": "ok"}
    assert bench.client.get("/metrics").status_code == 200


def test_a_new_job_makes_a_crashed_lab_ready_again(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench.engine, "failure", "broken")
    assert bench.client.put("/v1/job", json={"preset": "trap-87"}).status_code == 200
    bench.get("/readyz")


def test_not_ready_when_far_behind(bench: Bench) -> None:
    bench.clock.turn(4)
    bench.get("/readyz")
    bench.clock.turn(4)
    assert "behind" in problem(bench.client.get("/readyz"), 503)["components"]["engine"]
    bench.engine.pump()
    bench.get("/readyz")


def test_version(bench: Bench) -> None:
    found = bench.get("/version")
    assert found["name"] == "stepscope"
    assert found["version"] == __version__
