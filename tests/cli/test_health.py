"""`stepscope health`."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from tests.cli.conftest import Answer, Command
from tests.cli.test_client import free_port

Serving = Callable[[Answer], str]
PROBLEM = "application/problem+json"


def test_ready(lab: Command) -> None:
    status, out, err = lab("health")
    assert (status, err) == (0, "")
    assert out == "ready: engine ok, api ok\n"


def test_ready_for_programs(lab: Command) -> None:
    found = json.loads(lab("health", "--json").out)
    assert found["ready"] is True
    assert found["components"]["engine"] == "ok"


def test_not_there(stepscope: Command) -> None:
    url = f"http://127.0.0.1:{free_port()}"
    status, out, err = stepscope("health", "--url", url)
    assert (status, err) == (1, "")
    assert out.startswith(f"not ready: no lab answers at {url} (connection refused)")
    assert out.count("\n") == 1
    status, out, _ = stepscope("health", "--url", url, "--json")
    assert status == 1
    assert json.loads(out)["ready"] is False


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (Answer(503, PROBLEM, b'{"status": 503, "detail": "engine: stopped", "components": {}}'), "engine: stopped"),
        (Answer(500, PROBLEM, b'{"status": 500}'), "HTTP 500"),
        (Answer(200, "text/html", b"<p>hello"), "answers, but not as a stepscope lab does (HTTP 200)"),
        (Answer(200, "application/json", b'["status"]'), "answers, but not as a stepscope lab does (HTTP 200)"),
    ],
)
def test_not_ready(stepscope: Command, serving: Serving, answer: Answer, said: str) -> None:
    status, out, err = stepscope("health", "--url", serving(answer))
    assert (status, err) == (1, "")
    assert out.startswith("not ready: ")
    assert said in out
    assert out.count("\n") == 1


def test_the_port_of_the_lab_beside_it(stepscope: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    port = free_port()
    monkeypatch.setenv("STEPSCOPE_PORT", str(port))
    assert f"http://127.0.0.1:{port} " in stepscope("health").out


def test_a_wrong_address_is_wrong_input(stepscope: Command) -> None:
    assert stepscope("health", "--url", "x").status == 2
