"""The lab as a server: one process, one port, an engine thread, and an orderly end."""

from __future__ import annotations

import signal
import socket
import sys
from typing import TextIO

import uvicorn

from exporter.pages import Pages
from simulator.engine import Engine
from stepscope import __version__
from stepscope.api.app import create_app
from stepscope.api.lab import Lab
from stepscope.api.server import PatientServer, base_url, configured, leave, listen
from stepscope.api.settings import Settings
from stepscope.api.stream import EventHub


class LabServer(PatientServer):
    """Ends the event streams before it waits for them to close."""

    def __init__(self, config: uvicorn.Config, hub: EventHub) -> None:
        super().__init__(config)
        self._hub = hub

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop serving."""
        self._hub.close()
        await super().shutdown(sockets)


def run(settings: Settings, engine: Engine, *, out: TextIO = sys.stderr) -> int:
    """Start the engine and serve it until SIGTERM or Ctrl-C; the exit status.

    Raises `SettingsError` when the address cannot be had. The engine must not be started yet.
    """
    listener = listen(settings.host, settings.port)
    app = create_app(Lab(engine, Pages(engine, version=__version__, hostname_label=settings.hostname_label), settings))
    config = configured(app, lifespan="on")
    before = signal.signal(signal.SIGTERM, leave)
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


def _greet(settings: Settings, listener: socket.socket, out: TextIO) -> None:
    base = base_url(settings.host, listener)
    print(f"stepscope lab: {base}/  (metrics {base}/metrics, API {base}/docs; Ctrl-C stops it)", file=out)
    what = "truth and writes" if settings.writes_need_token else "truth"
    if settings.token_is_made:
        print(f"token for {what}, made for this run (STEPSCOPE_TOKEN sets one): {settings.token}", file=out)
    elif settings.token_file is not None:
        print(f"token for {what}: in {settings.token_file}", file=out)
    out.flush()
