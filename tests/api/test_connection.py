"""Connections that ask for nothing, or read nothing: on a loop's clock that the test turns."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, cast

import pytest
from starlette.types import Receive, Scope, Send
from uvicorn import Config
from uvicorn.server import ServerState

from stepscope.api.connection import (
    ABORT,
    REQUEST_SECONDS,
    SEND_SECONDS,
    SPARE_FILES,
    LabProtocol,
    at_one_go,
    check_all,
    most_connections,
)

REQUEST = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
BODY = b"PUT / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nhalf"


class Wire:
    """A transport that goes nowhere."""

    def __init__(self) -> None:
        self.aborted = False
        self.unread = 0
        self.written = b""

    def __getattr__(self, _: str) -> Callable[..., None]:
        return lambda *_, **__: None

    def write(self, data: bytes) -> None:
        self.written += data

    def get_write_buffer_size(self) -> int:
        return self.unread

    def is_closing(self) -> bool:
        return self.aborted

    def abort(self) -> None:
        self.aborted = True


class Port:
    """What clients connect to."""

    def __init__(self) -> None:
        self.state = ServerState()
        self.answer = asyncio.Event()
        self.extensions: dict[str, Any] = {}
        self.config = Config(self._app, http=LabProtocol, interface="asgi3", lifespan="off", log_config=None)

    async def _app(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.extensions = scope["extensions"]
        while (message := await receive())["type"] == "http.request" and message.get("more_body"):
            pass
        await self.answer.wait()
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    def connect(self) -> tuple[LabProtocol, Wire]:
        protocol, wire = LabProtocol(self.config, self.state, {}), Wire()
        protocol.connection_made(cast(asyncio.Transport, wire))
        return protocol, wire

    def look(self, seconds: float) -> None:
        """Look after the connections, so long after their beginning."""
        check_all(self.state.connections, asyncio.get_running_loop().time() + seconds)


def on_a_loop(body: Callable[[Port], Awaitable[None]]) -> None:
    async def main() -> None:
        await body(Port())

    asyncio.run(main())


@pytest.mark.parametrize("sent", [b"\r\n", b"GET / HTTP/1.1\r\nHost: lo", BODY])
def test_a_request_that_does_not_come_is_not_waited_for(sent: bytes) -> None:
    async def body(port: Port) -> None:
        protocol, wire = port.connect()
        protocol.data_received(sent)
        cut = []
        for second in (*range(int(REQUEST_SECONDS)), 2 * REQUEST_SECONDS):
            port.look(second)
            cut.append(wire.aborted)
        assert cut == [False] * int(REQUEST_SECONDS) + [True]
        protocol.connection_lost(None)

    on_a_loop(body)


def test_a_slow_answer_is_not_the_clients_fault_and_the_next_request_has_its_own_time() -> None:
    async def body(port: Port) -> None:
        protocol, wire = port.connect()
        protocol.data_received(REQUEST)
        port.look(10 * REQUEST_SECONDS)
        port.answer.set()
        await asyncio.gather(*port.state.tasks)
        assert b"204" in wire.written
        port.look(10.5 * REQUEST_SECONDS)
        protocol.data_received(REQUEST)
        await asyncio.gather(*port.state.tasks)
        cut = []
        for time in (11.5, 13):
            port.look(time * REQUEST_SECONDS)
            cut.append(wire.aborted)
        assert cut == [False, True]

    on_a_loop(body)


def test_an_answer_that_nobody_reads_is_not_kept() -> None:
    async def body(port: Port) -> None:
        protocol, wire = port.connect()
        protocol.data_received(REQUEST)
        port.look(0.0)
        wire.unread = 100_000
        cut = []
        for second in (-1.0, 1.0):
            port.look(SEND_SECONDS + second)
            cut.append(wire.aborted)
        assert cut == [False, True]

    on_a_loop(body)


def test_who_has_waited_longest_makes_room_and_nobody_whose_answer_is_due(monkeypatch: pytest.MonkeyPatch) -> None:
    async def body(port: Port) -> None:
        monkeypatch.setattr(LabProtocol, "most", 3)
        busy, busy_wire = port.connect()
        busy.data_received(REQUEST)
        wires = []
        for age in (1.0, 3.0):
            protocol, wire = port.connect()
            protocol.waiting_since -= age
            wires.append(wire)
        _, fourth = port.connect()
        assert [wire.aborted for wire in (busy_wire, *wires, fourth)] == [False, False, True, False]
        port.connect()
        assert [wire.aborted for wire in (busy_wire, *wires, fourth)] == [False, True, True, False]

    on_a_loop(body)


def test_where_everybody_is_busy_the_new_one_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    async def body(port: Port) -> None:
        monkeypatch.setattr(LabProtocol, "most", 1)
        first, first_wire = port.connect()
        first.data_received(REQUEST)
        _, second = port.connect()
        assert (first_wire.aborted, second.aborted) == (False, True)

    on_a_loop(body)


def test_a_route_can_cut_its_connection_off() -> None:
    async def body(port: Port) -> None:
        protocol, wire = port.connect()
        protocol.data_received(REQUEST)
        await asyncio.sleep(0)
        port.extensions[ABORT]()
        assert wire.aborted

    on_a_loop(body)


@pytest.mark.parametrize(("open_files", "most"), [(64, 16), (256, 80), (1024, 464), (10**6, 512)])
def test_there_are_fewer_connections_than_files(open_files: int, most: int) -> None:
    assert most_connections(open_files) == most
    # Until the first connection that was cut off has closed, asyncio can have accepted four times more.
    assert open_files < 256 or most + 4 * at_one_go(open_files) + SPARE_FILES <= open_files
