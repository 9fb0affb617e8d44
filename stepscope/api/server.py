"""uvicorn as this program runs it: bounded connections, an orderly end, and no word about what clients do."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
from types import FrameType
from typing import Literal, NoReturn

import uvicorn
from starlette.types import ASGIApp

from stepscope.api.connection import QUEUE, LabProtocol, check_all
from stepscope.api.settings import SettingsError

KEEP_ALIVE_SECONDS = 8
"""Between two requests on a connection: longer than the five seconds at which Prometheus asks."""
GRACE_SECONDS = 2
"""What running requests get to finish when the server stops."""
_HERE = ("0.0.0.0", "::", "127.0.0.1", "::1")


class PatientServer(uvicorn.Server):
    """uvicorn, which looks after its connections."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to serve."""
        await super().startup(sockets)
        for listener in sockets or []:
            # asyncio takes as many at one go as it told the system to queue. A burst may queue all the same.
            listener.listen(QUEUE)

    async def on_tick(self, counter: int) -> bool:
        """Called ten times a second."""
        if counter % 10 == 0:
            check_all(self.server_state.connections, asyncio.get_running_loop().time())
        return await super().on_tick(counter)


def configured(app: ASGIApp, *, lifespan: Literal["on", "off"]) -> uvicorn.Config:
    """uvicorn's configuration. Its warnings are about what clients do, once for each time that they do it: silenced."""
    logging.getLogger("uvicorn").setLevel(logging.WARNING)
    logging.getLogger("uvicorn.error").setLevel(logging.ERROR)
    return uvicorn.Config(
        app,
        http=LabProtocol,
        backlog=LabProtocol.backlog,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        ws="none",
        lifespan=lifespan,
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=GRACE_SECONDS,
    )


def leave(_: int, __: FrameType | None) -> NoReturn:
    """What SIGTERM does: uvicorn raises the signal that stopped it once more when it is done, and would die of it."""
    raise SystemExit(0)


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens at an address; `SettingsError` when it cannot be had."""
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        dual = family is socket.AF_INET6 and host == "::" and socket.has_dualstack_ipv6()
        listener = socket.create_server(address[:2], family=family, backlog=QUEUE, dualstack_ipv6=dual)
        # asyncio sets this only on sockets of its own; without it each answer waits 40 ms for an acknowledgement.
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return listener
    except socket.gaierror as error:
        raise SettingsError(f"host: {host!r} is not an address of this machine ({error.strerror})") from error
    except OSError as error:
        where = f"{host}:{port}"
        # Not error.strerror: create_server() adds the address to it, which is said already.
        reason = os.strerror(error.errno) if error.errno else str(error)
        raise SettingsError(f"port: {where} cannot be had ({reason}); choose another with --port") from error


def base_url(host: str, listener: socket.socket) -> str:
    """Where a server is to be found by a person on this machine."""
    shown = "localhost" if host in _HERE else host
    return f"http://{f'[{shown}]' if ':' in shown else shown}:{listener.getsockname()[1]}"
