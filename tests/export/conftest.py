"""The exporter's application over a node whose cycles a test runs by hand, in this process."""

from __future__ import annotations

import os
from dataclasses import dataclass, field

import pytest
from starlette.testclient import TestClient

from exporter.reading import Reading
from stepscope.export.app import create_app
from stepscope.export.settings import ExportSettings
from tests.exporter.nodes import FakeJob, Scripted, Stage, board, reading


@pytest.fixture(autouse=True)
def _no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("STEPSCOPE_")]:
        monkeypatch.delenv(name)


@dataclass
class Bench:
    """An exporter under test."""

    settings: ExportSettings = field(default_factory=lambda: ExportSettings(hostname="node-a"))
    found: Reading = field(default_factory=lambda: reading(board(0), board(1)))
    auto: bool = False

    def __post_init__(self) -> None:
        self.source = Scripted(lambda _: self.found)
        self.job = FakeJob()
        self.stage = Stage((self.source,), asked=() if self.auto else ("nvml",), auto=self.auto, job=self.job)
        app = create_app(self.stage.node, self.stage.pages, self.settings)
        self.client = TestClient(app, base_url="http://localhost:9401", raise_server_exceptions=False)


@pytest.fixture
def bench() -> Bench:
    """One whose first cycle has not begun."""
    return Bench()
