"""A real engine on a clock that stands still, behind the real application, in this process."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from exporter.pages import Pages
from simulator.clock import ManualClock
from simulator.engine import Engine
from simulator.presets import preset
from stepscope.api.app import create_app
from stepscope.api.lab import Lab
from stepscope.api.settings import Settings

BASE = "http://localhost:8000"
TOKEN = "a-token-for-tests"
STRAGGLER: dict[str, Any] = {"kind": "straggler", "target": {"mode": "ranks", "value": [2]}, "open_ended": True}


@dataclass
class Bench:
    """A lab under test."""

    settings: Settings = field(default_factory=lambda: Settings(token=TOKEN, token_is_made=False))
    preset: str = "workshop-4gpu"

    def __post_init__(self) -> None:
        self.clock = ManualClock()
        self.engine = Engine(preset(self.preset), seed=7, clock=self.clock)
        pages = Pages(self.engine, clock=self.clock.time)
        self.app: FastAPI = create_app(Lab(self.engine, pages, self.settings))
        self.client = TestClient(self.app, base_url=BASE, raise_server_exceptions=False)

    def turn(self, seconds: int) -> None:
        """Let the job run on."""
        for _ in range(seconds):
            self.clock.turn(1.0)
            self.engine.pump()

    def get(self, path: str, **headers: str) -> dict[str, Any]:
        """JSON of a successful answer."""
        answer = self.client.get(path, headers=headers)
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found

    def put_fault(self, name: str, body: object = None, **query: str) -> Any:
        """The answer to a PUT."""
        return self.client.put(f"/v1/faults/{name}", json=STRAGGLER if body is None else body, params=query)


@pytest.fixture
def idle() -> Bench:
    """A lab that has not finished its first second."""
    return Bench()


@pytest.fixture
def bench(idle: Bench) -> Bench:
    """A lab that has run for three seconds."""
    idle.engine.pump()
    idle.turn(2)
    return idle


def problem(answer: Any, status: int) -> dict[str, Any]:
    """The problem that an answer carries, checked for what every problem must have."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    found: dict[str, Any] = answer.json()
    assert found["status"] == status
    assert found["type"].startswith("urn:stepscope:problem:")
    assert found["title"]
    assert found["detail"]
    return found


def pointers(found: dict[str, Any]) -> list[tuple[str, str]]:
    """(in, pointer) of each error of a problem."""
    return [(error["in"], error["pointer"]) for error in found.get("errors", [])]
