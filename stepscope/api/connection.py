"""One client's connection: how long it may keep the lab waiting, and how many of them there may be.

uvicorn bounds neither a request that never ends nor an answer that nobody reads. Here both have their time, and where
all places are taken the connection that has asked for nothing for longest makes room for the new one.
"""

from __future__ import annotations

import asyncio
import resource
from collections.abc import Iterable
from typing import Any, cast

from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn import Config
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle
from uvicorn.server import ServerState

REQUEST_SECONDS = 10.0
"""For a request to arrive as a whole; also what a connection may be idle."""
SEND_SECONDS = 60.0
"""For a client to read what was sent to it."""
MOST_CONNECTIONS = 512
SPARE_FILES = 96
"""Open files that the lab needs beside its connections."""
MOST_AT_ONE_GO = 128
"""Connections accepted before any of them is looked at."""
_GOES = 6
"""Goes that may be open before a connection cut off in the first of them has closed: accepted, wrapped, made, aborted,
closed, and one to spare. What they hold must fit beside the connections that stay."""
QUEUE = 1_024
"""Connections that wait in the system until they are accepted; a client beyond them tries again after a second."""
ABORT = "stepscope.abort"
"""Key under `extensions` of an ASGI scope: what to call to cut the connection off, unread answers included."""

_OPEN_FILES = resource.getrlimit(resource.RLIMIT_NOFILE)[0]


def most_connections(open_files: int) -> int:
    """Connections that there may be at once where a process may have so many files open."""
    return max(16, min(MOST_CONNECTIONS, (open_files - SPARE_FILES) // 2))


def at_one_go(open_files: int) -> int:
    """Connections that may be accepted at one go, so that a burst never meets the limit of open files."""
    return max(1, min(MOST_AT_ONE_GO, (open_files - SPARE_FILES - most_connections(open_files)) // _GOES))


class LabProtocol(H11Protocol):
    """uvicorn's protocol with an end to its patience."""

    most = most_connections(_OPEN_FILES)
    backlog = at_one_go(_OPEN_FILES)

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self.app = self._with_abort(self.app)
        self.waiting_since = self._unread_since = self.loop.time()
        """Since when there has been no whole request to work on."""
        self._last_cycle: RequestResponseCycle | None = None

    @property
    def is_busy(self) -> bool:
        """Whether a whole request has arrived and its answer has not gone out yet."""
        cycle = cast("RequestResponseCycle | None", self.cycle)
        return cycle is not None and not cycle.response_complete and not cycle.more_body

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """A client is there; another one may have to go."""
        super().connection_made(transport)
        if len(self.connections) > self.most:
            idle = (
                other
                for other in self.connections
                if isinstance(other, LabProtocol) and not (other.is_busy or other.transport.is_closing())
            )
            min(idle, key=lambda other: other.waiting_since, default=self).transport.abort()

    def check(self, now: float) -> None:
        """Cut the connection off if it has kept the lab waiting for too long. `now` as the loop's clock has it."""
        if self.is_busy or self.cycle is not self._last_cycle:
            self._last_cycle, self.waiting_since = self.cycle, now
        if self.transport.get_write_buffer_size() == 0:
            self._unread_since = now
        if now - self.waiting_since > REQUEST_SECONDS or now - self._unread_since > SEND_SECONDS:
            self.transport.abort()

    def _with_abort(self, app: Any) -> ASGIApp:
        async def with_abort(scope: Scope, receive: Receive, send: Send) -> None:
            extensions = {**scope.get("extensions", {}), ABORT: self.transport.abort}
            await app({**scope, "extensions": extensions}, receive, send)

        return with_abort


def check_all(connections: Iterable[asyncio.Protocol], now: float) -> None:
    """Look after every connection, as the server does once a second."""
    for connection in list(connections):
        if isinstance(connection, LabProtocol):
            connection.check(now)
