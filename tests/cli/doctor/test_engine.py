"""The engine through the SDK, through the command, and engines that do not answer."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from stepscope.cli.doctor import engine
from stepscope.cli.doctor.engine import Engine, look, run_program

VERSION = {"Version": "28.1", "Os": "linux", "Arch": "x86_64"}
INFO: dict[str, Any] = {"Runtimes": {"runc": {}, "nvidia": {}}}


class NotFoundError(Exception):
    """As the SDK raises for an image that is not there."""


class Sdk:
    """As the module docker, with one image."""

    errors = SimpleNamespace(NotFound=NotFoundError)

    def __init__(self, error: Exception | None = None) -> None:
        self._error = error
        self.images = self
        self.closed = False

    def from_env(self, *, timeout: float) -> Sdk:
        assert timeout <= 2.0
        if self._error is not None:
            raise self._error
        return self

    def version(self) -> dict[str, str]:
        return VERSION

    def info(self) -> dict[str, Any]:
        return INFO

    def get(self, name: str) -> SimpleNamespace:
        if name != "here":
            raise NotFoundError
        return SimpleNamespace(attrs={"Architecture": "aarch64"})

    def close(self) -> None:
        self.closed = True


def no_program(_: Sequence[str]) -> tuple[int, str, str]:
    raise AssertionError("the SDK is there")


def absent(name: str) -> Any:
    raise ModuleNotFoundError(name)


def test_through_the_sdk() -> None:
    sdk = Sdk()
    found = look(["here", "gone"], run=no_program, load=lambda _: sdk)
    assert found == Engine("", "28.1", "linux", "amd64", ("runc", "nvidia"), {"here": "arm64"}, "docker SDK")
    assert sdk.closed


def test_through_the_command() -> None:
    def run(words: Sequence[str]) -> tuple[int, str, str]:
        if words[1] == "version":
            return 0, json.dumps(VERSION), ""
        if words[1] == "info":
            return 0, json.dumps(INFO), ""
        return (0, "amd64\n", "") if words[-1] == "here" else (1, "", "Error: No such image")

    found = look(["here", "gone"], run=run, load=absent)
    assert found == Engine("", "28.1", "linux", "amd64", ("runc", "nvidia"), {"here": "amd64"}, "docker command")


@pytest.mark.parametrize(
    ("out", "err", "error"),
    [
        ("null", "warning\nCannot connect to the Docker daemon.\n", "Cannot connect to the Docker daemon."),
        ("", "", "the engine does not answer"),
        ("{", "", "the engine does not answer"),
    ],
)
def test_a_command_that_finds_no_engine(out: str, err: str, error: str) -> None:
    assert look([], run=lambda _: (1, out, err), load=absent) == Engine(error=error, through="docker command")


def buried(cause: Exception) -> Exception:
    """As the SDK wraps what its libraries wrap."""
    return RuntimeError("Error while fetching server API version", ConnectionError("aborted", cause))


class SlowAnswerError(Exception):
    """As a library says that it waited in vain."""

    def __str__(self) -> str:
        return "Read timed out. (read timeout=2)"


@pytest.mark.parametrize(
    ("cause", "error"),
    [
        (buried(PermissionError(13, "Permission denied")), "permission denied"),
        (buried(FileNotFoundError(2, "No such file or directory")), "no such file or directory"),
        (buried(SlowAnswerError()), "nothing came within 2 s"),
        (ValueError("odd\nanswer"), "odd answer"),
        (ValueError(), "ValueError"),
    ],
)
def test_an_engine_that_does_not_answer_the_sdk(cause: Exception, error: str) -> None:
    assert look([], run=no_program, load=lambda _: Sdk(cause)) == Engine(error=error, through="docker SDK")


def test_a_cause_is_found_by_its_chain() -> None:
    error = RuntimeError("no")
    error.__cause__ = ConnectionRefusedError(111, "Connection refused")
    assert look([], run=no_program, load=lambda _: Sdk(error)).error == "connection refused"


def test_running_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    code = "import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)"
    assert run_program([sys.executable, "-c", code]) == (3, "out\n", "err\n")
    assert run_program(["/no/such/program"]) == (124, "", "no such file or directory")
    monkeypatch.setattr(engine, "TIMEOUT_SECONDS", 0.01)
    assert run_program([sys.executable, "-c", "input()"])[0] in (1, 124)
    status, _, err = run_program([sys.executable, "-c", "import time; time.sleep(60)"])
    assert (status, err) == (124, "nothing came within 0.01 s")
