"""Are the ports of the lab and of its servers free, or in the right hands?"""

from __future__ import annotations

import errno
import json
import socket
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from ipaddress import ip_address
from typing import TypeAlias

from stepscope.cli.doctor.check import Check, Status
from stepscope.cli.doctor.settings import Port

_HERE = "127.0.0.1"
_EVERYWHERE = ("0.0.0.0", "::")
TIMEOUT_SECONDS = 0.5
_MOST_BYTES = 200_000
_TITLES = {"lab": "the lab", "prometheus": "this Prometheus", "grafana": "this Grafana"}

Holder: TypeAlias = str
"""Who has a port: nobody, ours, somebody, another machine (its address is not of this one), or why it cannot be had."""
FREE, OURS, OTHER, ELSEWHERE = "free", "ours", "other", "elsewhere"


@dataclass(frozen=True, slots=True)
class Held:
    """A port, and who has it now."""

    port: Port
    holder: Holder


def look(port: Port) -> Held:
    """At a port of this machine."""
    return Held(port, _holder(port.service, port.host, port.number) if port.number else FREE)


def judge(held: Sequence[Held], *, docker: bool) -> Iterator[Check]:
    """One check for each port; without Docker only the lab's is needed."""
    seen: dict[int, str] = {}
    for one in held:
        needed = docker or one.port.service == "lab"
        yield _judge(one, needed=needed, before=seen)
        if one.port.number:
            seen.setdefault(one.port.number, one.port.service)


def _judge(held: Held, *, needed: bool, before: dict[int, str]) -> Check:
    port, number = held.port, held.port.number
    name = f"{port.service} port"
    bad: Status = "problem" if needed else "warning"
    if number is None:
        return Check(name, "problem", f"{port.key}: {port.text!r} is not a port", "give a number from 1 to 65535")
    if number == 0:
        return Check(name, "ok", f"{port.key} asks for any free one")
    if number in before:
        found = f"{number} ({port.key}) is the {before[number]} port too"
        return Check(name, bad, found, _another(port))
    if held.holder == FREE:
        return Check(name, "ok", f"{number} is free")
    if held.holder == OURS:
        return Check(name, "ok", f"{number} is in use by {_TITLES[port.service]} itself")
    if held.holder == OTHER:
        return Check(name, bad, f"{number} ({port.key}) is taken by another program", _another(port))
    if held.holder == ELSEWHERE:
        found = f"{port.host} is not an IP address of this machine"
        return Check(name, bad, found, "set BIND in .env to one that the others reach, or to 127.0.0.1")
    return Check(name, bad, f"{number} ({port.key}) cannot be had: {held.holder}", _another(port))


def _another(port: Port) -> str:
    other = (port.number or 8000) + 1 if (port.number or 0) >= 1_024 else 8_001
    if port.service == "lab":
        return f"stop it, or take another: stepscope lab --port {other}, LAB_PORT={other} in .env for the containers"
    return f"stop it, or take another: {port.service.upper()}_PORT={other} in .env"


def _holder(service: str, host: str, number: int) -> Holder:
    # That it can be bound comes first: only addresses of this machine can, and no other is to be asked.
    free = _bindable(host, number)
    if free not in (FREE, OTHER):
        return free
    at = _HERE if host in _EVERYWHERE else host
    try:
        with socket.create_connection((at, number), timeout=TIMEOUT_SECONDS):
            pass
    except OSError:
        return free
    return OURS if _SIGNS[service](at, number) else OTHER


def _bindable(host: str, number: int) -> Holder:
    try:
        # For a name Docker would publish the port on every address.
        ip_address(host)
    except ValueError:
        return ELSEWHERE
    try:
        with socket.create_server((host, number), family=socket.AF_INET6 if ":" in host else socket.AF_INET):
            return FREE
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            return OTHER
        if error.errno == errno.EADDRNOTAVAIL:
            return ELSEWHERE
        # Python adds the address to the system's words.
        return (error.strerror or type(error).__name__).partition(" (")[0].lower()


def _is_lab(host: str, number: int) -> bool:
    answer = _json(host, number, "/version")
    return "version" in answer and "python" in answer


def _is_stacks_prometheus(host: str, number: int) -> bool:
    # Any Prometheus answers; only that of the lab discovers its targets there.
    return "/sd/nodes" in json.dumps(_json(host, number, "/api/v1/status/config"))


def _is_stacks_grafana(host: str, number: int) -> bool:
    return "dashboard" in _json(host, number, "/api/dashboards/uid/the-trap")


_SIGNS: dict[str, Callable[[str, int], bool]] = {
    "lab": _is_lab,
    "prometheus": _is_stacks_prometheus,
    "grafana": _is_stacks_grafana,
}


def _json(host: str, number: int, path: str) -> dict[str, object]:
    """A JSON object from this machine; empty for any other answer, and for none."""
    connection = HTTPConnection(host, number, timeout=TIMEOUT_SECONDS)
    try:
        # A lab answers to names that it knows, and it always knows this one.
        connection.request("GET", path, headers={"Accept": "application/json", "Host": f"{_HERE}:{number}"})
        answer = json.loads(connection.getresponse().read(_MOST_BYTES))
    except (OSError, HTTPException, ValueError):
        return {}
    finally:
        connection.close()
    return answer if isinstance(answer, dict) else {}
