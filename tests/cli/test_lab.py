"""`stepscope lab`: what it says, what it refuses, and how it ends."""

from __future__ import annotations

import signal
import socket

import pytest

from stepscope.cli.first_steps import first_steps, program_name
from tests.cli.conftest import TOKEN, Command, running_lab


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_ends_in_good_order(stepscope: Command, number: signal.Signals) -> None:
    with running_lab("--preset", "trap-87", "--seed", "5") as lab:
        assert stepscope("health", "--url", lab.url).status == 0
        status, out, err = lab.end(number)
    assert status == 0
    assert "Traceback" not in err
    assert out.startswith("trap-87: ")
    assert "seed 5" in out.splitlines()[0]
    assert "fault add film io_starvation" in out
    assert err.count("token for truth, made for this run") == 1


def test_a_token_that_was_given_is_not_shown() -> None:
    with running_lab("--token", TOKEN) as lab:
        _, out, err = lab.end()
    assert "token" not in (out + err).lower()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--preset", "trap"), "--preset: 'trap' is not one of workshop-4gpu, "),
        (("--seed", "x"), "--seed: 'x' is not a whole number from 0 to 4294967295"),
        (("--port", "http"), "--port: 'http' is not a port"),
        (("--port", "70000"), "--port: 70000 is not a port"),
        (("--host", " "), "--host: must be a host name or an address"),
        (("--token", "short"), "--token: must have at least 8"),
    ],
)
def test_wrong_options(stepscope: Command, words: tuple[str, ...], said: str) -> None:
    status, out, err = stepscope("lab", *words)
    assert (status, out) == (2, "")
    assert err.startswith(f"stepscope lab: {said}")
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("STEPSCOPE_PRESET", "trap", "STEPSCOPE_PRESET: 'trap' is not one of workshop-4gpu, "),
        ("STEPSCOPE_SEED", "-3", "STEPSCOPE_SEED: '-3' is not a whole number from 0 to 4294967295"),
        ("STEPSCOPE_PORT", "x", "STEPSCOPE_PORT: 'x' is not a port"),
    ],
)
def test_wrong_environment(
    stepscope: Command, monkeypatch: pytest.MonkeyPatch, name: str, value: str, said: str
) -> None:
    monkeypatch.setenv(name, value)
    status, out, err = stepscope("lab")
    assert (status, out) == (2, "")
    assert err.startswith(f"stepscope lab: {said}")


def test_a_port_that_is_taken(stepscope: Command) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        status, _, err = stepscope("lab", "--port", str(port))
    assert status == 1
    assert err.startswith(f"stepscope lab: port: 127.0.0.1:{port} cannot be had (Address already in use")
    assert "choose another with --port" in err
    assert err.count("\n") == 1


def test_first_steps() -> None:
    assert "export" not in first_steps("0.0.0.0", 8000, needs_token=False, program="stepscope")
    assert "=http://[::1]:8000" in first_steps("::1", 8000, needs_token=False, program="stepscope")
    assert "=http://10.0.0.7:8000" in first_steps("10.0.0.7", 8000, needs_token=False, program="stepscope")
    other = first_steps("127.0.0.1", 8001, needs_token=True, program=".venv/bin/stepscope")
    assert "export STEPSCOPE_URL=http://127.0.0.1:8001" in other
    assert "export STEPSCOPE_TOKEN=" in other
    assert ".venv/bin/stepscope fault reset" in other


def test_how_it_can_be_called_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert program_name([".venv/bin/stepscope", "lab"]) == ".venv/bin/stepscope"
    assert program_name(["/somewhere/stepscope/__main__.py"]) == "stepscope"
    assert program_name([]) == "stepscope"
