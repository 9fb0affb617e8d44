"""Ports: free, in the right hands, in other hands."""

from __future__ import annotations

import errno
import json
import socket
from collections.abc import Callable

import pytest

from stepscope.cli.doctor import ports
from stepscope.cli.doctor.ports import ELSEWHERE, FREE, OTHER, OURS, Held, judge, look
from stepscope.cli.doctor.settings import Port
from tests.cli.conftest import Answer
from tests.cli.test_client import free_port

Serving = Callable[[Answer], str]

LAB = json.dumps({"version": "1", "python": "3"}).encode()
PROMETHEUS = json.dumps({"data": {"yaml": "http_sd_configs:\n- url: http://simulator:8000/sd/nodes"}}).encode()
GRAFANA = json.dumps({"dashboard": {"uid": "the-trap"}}).encode()


def port(service: str, number: int) -> Port:
    return Port(service, str(number), "key")


@pytest.mark.parametrize(
    ("service", "answer", "holder"),
    [
        ("lab", Answer(200, "application/json", LAB), OURS),
        ("lab", Answer(200, "text/html", b"<p>hello"), OTHER),
        ("lab", Answer(200, "application/json", b"[1]"), OTHER),
        ("prometheus", Answer(200, "application/json", PROMETHEUS), OURS),
        ("prometheus", Answer(200, "application/json", b'{"data": {"yaml": "scrape_configs:"}}'), OTHER),
        ("grafana", Answer(200, "application/json", GRAFANA), OURS),
        ("grafana", Answer(404, "application/json", b'{"message": "Dashboard not found"}'), OTHER),
    ],
)
def test_who_answers(serving: Serving, service: str, answer: Answer, holder: str) -> None:
    number = int(serving(answer).rpartition(":")[2])
    assert look(port(service, number)).holder == holder


def test_nobody() -> None:
    assert look(port("lab", free_port())).holder == FREE
    assert look(port("lab", 0)).holder == FREE
    assert look(Port("lab", "none", "key")).holder == FREE


def test_somebody_who_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ports, "TIMEOUT_SECONDS", 0.05)
    with socket.create_server(("127.0.0.1", 0)) as server:
        assert look(port("lab", server.getsockname()[1])).holder == OTHER


@pytest.mark.parametrize(("number", "holder"), [(errno.EADDRINUSE, OTHER), (errno.EACCES, "no")])
def test_a_port_that_cannot_be_had(monkeypatch: pytest.MonkeyPatch, number: int, holder: str) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(number, "no")

    monkeypatch.setattr(socket, "create_connection", refuse)
    monkeypatch.setattr(socket, "create_server", refuse)
    assert look(port("lab", 80)).holder == holder


@pytest.mark.parametrize(
    ("host", "holder"),
    [
        ("0.0.0.0", OURS),
        ("127.0.0.1", OURS),
        ("192.0.2.1", ELSEWHERE),
        ("no such", ELSEWHERE),
        ("localhost", ELSEWHERE),
    ],
)
def test_other_addresses_of_this_machine(serving: Serving, host: str, holder: str) -> None:
    number = serving(Answer(200, "application/json", LAB)).rpartition(":")[2]
    assert look(Port("lab", number, "key", host)).holder == holder


@pytest.mark.parametrize(
    ("held", "docker", "status", "said"),
    [
        (Held(port("lab", 8000), FREE), False, "ok", "8000 is free"),
        (Held(port("lab", 8000), OURS), False, "ok", "8000 is in use by the lab itself"),
        (Held(port("lab", 8000), OTHER), False, "problem", "stepscope lab --port 8001, LAB_PORT=8001 in .env"),
        (Held(port("lab", 80), "permission denied"), False, "problem", "80 (key) cannot be had: permission denied"),
        (Held(port("lab", 80), "permission denied"), False, "problem", "stepscope lab --port 8001"),
        (Held(port("grafana", 80), ELSEWHERE), True, "problem", "127.0.0.1 is not an IP address of this machine"),
        (Held(port("lab", 0), FREE), False, "ok", "asks for any free one"),
        (Held(Port("lab", "http", "LAB_PORT"), FREE), False, "problem", "LAB_PORT: 'http' is not a port"),
        (Held(port("grafana", 3000), OTHER), True, "problem", "GRAFANA_PORT=3001 in .env"),
        (Held(port("grafana", 3000), OTHER), False, "warning", "3000 (key) is taken by another program"),
        (Held(port("prometheus", 9090), OURS), True, "ok", "9090 is in use by this Prometheus itself"),
    ],
)
def test_verdicts(held: Held, docker: bool, status: str, said: str) -> None:
    (check,) = judge([held], docker=docker)
    assert (check.name, check.status) == (f"{held.port.service} port", status)
    assert said in f"{check.found} {check.advice}"


def test_two_services_with_one_port() -> None:
    held = [Held(port(service, number), FREE) for service, number in (("lab", 80), ("prometheus", 81), ("grafana", 80))]
    checks = list(judge(held, docker=True))
    assert [check.status for check in checks] == ["ok", "ok", "problem"]
    assert checks[2].found == "80 (key) is the lab port too"
