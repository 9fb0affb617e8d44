"""A lab for a room: published on an address that others reach, with writes behind the token."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator

import pytest

from tests.stack.composed import Stack, composed
from tests.stack.http import Answer, request
from tests.stack.real import need, run

pytestmark = pytest.mark.stack

NOWHERE = ("192.0.2.1", 9)
"""Reserved for documentation; nothing is sent there."""


@pytest.fixture(scope="module")
def room() -> Iterator[Stack]:
    # STEPSCOPE_OPEN_WRITES stands for what somebody may have left in a shell.
    variables = {"BIND": own_address(), "STEPSCOPE_OPEN_WRITES": "1", "STEPSCOPE_ALLOWED_HOSTS": "room.example"}
    with composed("room", **variables) as stack:
        stack.up("simulator")
        yield stack


def own_address() -> str:
    """An address of this machine that is not a loopback one."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(NOWHERE)
        except OSError:
            need("docker")
            bridge = json.loads(run("docker", "network", "inspect", "bridge").stdout)
            return str(bridge[0]["IPAM"]["Config"][0]["Gateway"])
        return str(probe.getsockname()[0])


def put(stack: Stack, **headers: str) -> Answer:
    """Try to inject a fault that does nothing."""
    url = f"{stack.lab.url}/v1/faults/room-check"
    return request(url, method="PUT", json_body={"kind": "none", "duration_seconds": 10}, headers=headers)


def test_everybody_may_look(room: Stack) -> None:
    assert room.lab.state()["run"]["preset"] == "workshop-4gpu"


def test_writes_without_the_token_are_refused(room: Stack) -> None:
    assert put(room).status == 401
    assert put(room, Authorization="Bearer not-the-token").status == 401


def test_writes_with_the_token_are_accepted(room: Stack) -> None:
    assert put(room, Authorization=f"Bearer {room.token()}").status in (200, 201)


def test_the_lab_can_be_broken_from_inside_without_typing_the_token(room: Stack) -> None:
    command = ("stepscope", "fault", "add", "room-check", "none", "--duration", "10")
    done = room.compose("exec", "--no-TTY", "simulator", *command)
    assert done.returncode == 0, done.stderr


def test_it_answers_to_its_address_and_to_names_that_were_allowed(room: Stack) -> None:
    assert request(f"{room.lab.url}/version", headers={"Host": "room.example"}).status == 200
    assert request(f"{room.lab.url}/version", headers={"Host": "other.example"}).status == 421


def test_address_and_token_are_printed(room: Stack) -> None:
    need("make")
    printed = room.run("make", "--no-print-directory", "urls")
    assert printed.returncode == 0, printed.stderr
    lines = dict(line.rsplit(maxsplit=1) for line in printed.stdout.splitlines())
    assert lines == {"lab": room.lab.url, "token": room.token()}
