"""The lab as a server: one process, one port, an engine thread, and an orderly end."""

from __future__ import annotations

import asyncio
import logging
import signal
import socket
import sys
from types import FrameType
from typing import NoReturn, TextIO

import uvicorn

from exporter.pages import Pages
from simulator.engine import Engine
from stepscope import __version__
from stepscope.api.app import create_app
from stepscope.api.connection import QUEUE, LabProtocol, check_all
from stepscope.api.lab import Lab
from stepscope.api.settings import Settings, SettingsError
from stepscope.api.stream import EventHub

KEEP_ALIVE_SECONDS = 8
"""Between two requests on a connection: longer than the five seconds at which Prometheus asks."""
GRACE_SECONDS = 2
"""What running requests get to finish when the lab stops."""


class LabServer(uvicorn.Server):
    """uvicorn, which looks after its connections, and ends the event streams before it waits for them to close."""

    def __init__(self, config: uvicorn.Config, hub: EventHub) -> None:
        super().__init__(config)
        self._hub = hub

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

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop serving."""
        self._hub.close()
        await super().shutdown(sockets)


def run(settings: Settings, engine: Engine, *, out: TextIO = sys.stderr) -> int:
    """Start the engine and serve it until SIGTERM or Ctrl-C; the exit status.

    Raises `SettingsError` when the address cannot be had. The engine must not be started yet.
    """
    listener = _listen(settings)
    app = create_app(Lab(engine, Pages(engine, version=__version__, hostname_label=settings.hostname_label), settings))
    config = uvicorn.Config(
        app,
        http=LabProtocol,
        backlog=LabProtocol.backlog,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=GRACE_SECONDS,
    )
    _quiet_uvicorn()
    before = signal.signal(signal.SIGTERM, _leave)
    engine.start()
    try:
        _greet(settings, listener, out)
        LabServer(config, app.state.hub).run(sockets=[listener])
    except KeyboardInterrupt:
        pass
    except SystemExit as leaving:
        return leaving.code if isinstance(leaving.code, int) else 0
    finally:
        engine.stop()
        listener.close()
        signal.signal(signal.SIGTERM, before)
    return 0


def _leave(_: int, __: FrameType | None) -> NoReturn:
    # uvicorn raises the signal that stopped it once more when it is done; its default would be to die of it.
    raise SystemExit(0)


def _listen(settings: Settings) -> socket.socket:
    try:
        family, _, _, _, address = socket.getaddrinfo(
            settings.host, settings.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        dual = family is socket.AF_INET6 and settings.host == "::" and socket.has_dualstack_ipv6()
        listener = socket.create_server(address[:2], family=family, backlog=QUEUE, dualstack_ipv6=dual)
        # asyncio sets this only on sockets of its own; without it each answer waits 40 ms for an acknowledgement.
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return listener
    except socket.gaierror as error:
        raise SettingsError(f"host: {settings.host!r} is not an address of this machine ({error.strerror})") from error
    except OSError as error:
        where = f"{settings.host}:{settings.port}"
        raise SettingsError(f"port: {where} cannot be had ({error.strerror}); choose another with --port") from error


def _greet(settings: Settings, listener: socket.socket, out: TextIO) -> None:
    port = listener.getsockname()[1]
    host = "localhost" if settings.host in ("0.0.0.0", "::", "127.0.0.1", "::1") else settings.host
    base = f"http://{f'[{host}]' if ':' in host else host}:{port}"
    print(f"stepscope lab: {base}/  (metrics {base}/metrics, API {base}/docs; Ctrl-C stops it)", file=out)
    what = "truth and writes" if settings.writes_need_token else "truth"
    if settings.token_is_made:
        print(f"token for {what}, made for this run (STEPSCOPE_TOKEN sets one): {settings.token}", file=out)
    elif settings.token_file is not None:
        print(f"token for {what}: in {settings.token_file}", file=out)
    out.flush()


def _quiet_uvicorn() -> None:
    logging.getLogger("uvicorn").setLevel(logging.WARNING)
    # Its warnings are about what clients do, once for each time that they do it.
    logging.getLogger("uvicorn.error").setLevel(logging.ERROR)
