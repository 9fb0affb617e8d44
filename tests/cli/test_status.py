"""`stepscope status`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from stepscope.cli import stack_options
from stepscope.stack import status as stack_status
from stepscope.stack.lease import Lease, LeaseFile
from stepscope.stack.prometheus import Watched
from tests.cli.conftest import Command
from tests.sdk.fake import ENGINE, PROJECT, FakeEngine, stack

WELL = Watched("http://127.0.0.1:9090", reachable=True, targets=3, targets_up=3, mfu={"workshop-4gpu-1": 0.421})


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> FakeEngine:
    """What the command finds in the place of an engine."""
    fake = stack()
    monkeypatch.setattr(stack_options, "_connect", lambda context, environ: fake)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.delenv("COMPOSE_PROJECT_NAME", raising=False)
    watched(monkeypatch, WELL)
    return fake


def watched(monkeypatch: pytest.MonkeyPatch, found: Watched) -> None:
    """Let Prometheus say this."""
    monkeypatch.setattr(stack_status.look, "__kwdefaults__", {"watch": lambda url: found})


def test_all_is_well(stepscope: Command, engine: FakeEngine) -> None:
    status, out, err = stepscope("status")
    assert (status, err) == (0, "")
    lines = out.splitlines()
    assert lines[0].split() == ["service", "state", "health", "ports", "image", "restarts", "memory"]
    assert lines[3].split() == [
        "simulator", "running", "healthy", "127.0.0.1:8000->8000/tcp", "simulator:1", "0", "50", "MiB",
    ]  # fmt: skip
    up = "Prometheus http://127.0.0.1:9090: 3 of 3 targets up, MFU workshop-4gpu-1 42.1 %"
    assert lines[4:] == [up, "all is well"]
    assert engine.closed


def test_for_programs(stepscope: Command, engine: FakeEngine) -> None:
    found = json.loads(stepscope("status", "--json").out)
    assert (found["project"], found["ok"], found["problems"]) == ("stepscope", True, [])
    assert found["prometheus"]["mfu"] == {"workshop-4gpu-1": 0.421}
    assert found["services"][2] == {
        "service": "simulator", "container": "stepscope-simulator-1", "state": "running", "health": "healthy",
        "ports": ["127.0.0.1:8000->8000/tcp"], "image": "simulator:1", "restarts": 0, "memory_bytes": 50 * 2**20,
        "chaos": "",
    }  # fmt: skip


def test_what_is_not_well_is_told_and_is_exit_status_1(
    stepscope: Command, engine: FakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine.there["simulator"].status = "exited"
    watched(monkeypatch, Watched("http://127.0.0.1:9090", True, targets=3, targets_up=1, mfu={}))
    status, out, err = stepscope("status")
    assert (status, err) == (1, "")
    assert "MFU –" in out
    assert out.splitlines()[-3:] == [
        "not well: simulator is exited", "not well: 2 of 3 targets are down", "not well: no MFU is stored yet",
    ]  # fmt: skip
    status, out, _ = stepscope("status", "--json")
    assert (status, json.loads(out)["ok"]) == (1, False)


def test_what_is_broken_on_purpose_is_told(stepscope: Command, engine: FakeEngine, tmp_path: Path) -> None:
    simulator = engine.there["simulator"]
    simulator.status = "paused"
    lease = Lease("1", ENGINE, PROJECT, "simulator", "pause", simulator.id, {}, 1e9, 1e9 + 30, 7)
    LeaseFile(tmp_path / "stepscope" / "chaos.json").add(lease)
    out = stepscope("status").out
    assert "simulator: broken on purpose, pause until " in out


def test_another_project(stepscope: Command, engine: FakeEngine) -> None:
    status, out, err = stepscope("status", "--project", "other")
    assert (status, out) == (1, "")
    assert err.startswith("stepscope status: project 'other' has no containers on this engine: docker compose up")
    assert err.count("\n") == 1


def test_no_engine_is_one_line(stepscope: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "tcp://127.0.0.1:9")
    status, out, err = stepscope("status")
    assert (status, out) == (1, "")
    assert err.startswith("stepscope status: no Docker engine answers at tcp://127.0.0.1:9 (connection refused);")
    assert err.count("\n") == 1


def test_no_sdk_is_one_line(stepscope: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere(context: str | None, environ: object) -> None:
        raise ModuleNotFoundError("No module named 'docker'", name="docker")

    monkeypatch.setattr(stack_options, "_connect", nowhere)
    status, out, err = stepscope("status")
    assert (status, out) == (1, "")
    assert err.startswith("stepscope status: needs docker, which is not installed: pip install ")
    assert "[stack]" in err
    assert err.count("\n") == 1
