"""Which engine Docker's programs would take."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from stepscope.cli.doctor.context import Context, look


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home whose context in use is `far`; there is `near` too, and one whose file is damaged."""
    folder = tmp_path / ".docker"
    folder.mkdir()
    (folder / "config.json").write_text('{"currentContext": "far"}', encoding="utf-8")
    ends = {
        "far": {"docker": {"Host": "ssh://me@far"}}, "near": {"docker": {"Host": "unix:///run/near.sock"}}, "odd": 3,
    }  # fmt: skip
    for name, endpoints in ends.items():
        place = folder / "contexts" / "meta" / hashlib.sha256(name.encode()).hexdigest()
        place.mkdir(parents=True)
        (place / "meta.json").write_text(json.dumps({"Name": name, "Endpoints": endpoints}), encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({}, Context("far", "ssh://me@far")),
        ({"DOCKER_CONTEXT": "near"}, Context("near", "unix:///run/near.sock")),
        ({"DOCKER_CONTEXT": "default"}, Context("default", "")),
        ({"DOCKER_CONTEXT": "none"}, Context("none", "", "there is no context 'none'")),
        ({"DOCKER_CONTEXT": "odd"}, Context("odd", "", "there is no context 'odd'")),
        ({"DOCKER_CONTEXT": "near", "DOCKER_HOST": "tcp://a:1"}, Context("DOCKER_HOST", "tcp://a:1")),
        ({"DOCKER_CONFIG": "/nowhere"}, Context("default", "")),
    ],
)
def test_which_one(home: Path, environ: dict[str, str], expected: Context) -> None:
    assert look(environ, home=home) == expected


def test_without_any_file(tmp_path: Path) -> None:
    assert look({}, home=tmp_path) == Context("default", "")


@pytest.mark.parametrize(
    ("endpoint", "local"),
    [
        ("", True), ("unix:///run/docker.sock", True), ("npipe:////./pipe/docker_engine", True), ("fd://", True),
        ("tcp://127.0.0.1:2375", True), ("tcp://[::1]:2375", True), ("tcp://localhost:2375", True),
        ("tcp://10.0.0.1:2375", False), ("ssh://me@far", False), ("http://far", False),
    ],
)  # fmt: skip
def test_what_is_this_machine(endpoint: str, local: bool) -> None:
    assert Context("name", endpoint).local is local
