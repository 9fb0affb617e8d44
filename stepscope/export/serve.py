"""The exporter as a server: collectors in their threads, one port, and an end that no driver can hold up."""

from __future__ import annotations

import logging
import os
import signal
import sys
from typing import TextIO

import uvicorn

from exporter.export_pages import ExportPages
from exporter.node import Node
from stepscope import __version__
from stepscope.api.server import PatientServer, base_url, configured, leave, listen
from stepscope.cli.errors import FAILED
from stepscope.export.app import create_app
from stepscope.export.settings import ExportSettings

_log = logging.getLogger(__name__)


class ExportServer(PatientServer):
    """Looks after the sources too: reconsiders which are used, and leaves when one has failed too often."""

    def __init__(self, config: uvicorn.Config, node: Node, *, most_failures: int) -> None:
        super().__init__(config)
        self._node = node
        self._most_failures = most_failures
        self.exhausted = ""
        """The source for which the server ended; empty while none has."""

    async def on_tick(self, counter: int) -> bool:
        """Called ten times a second."""
        if counter % 10 == 0:
            self.exhausted = self.exhausted or self._node.look(failures=self._most_failures)
        return await super().on_tick(counter) or bool(self.exhausted)


def run(settings: ExportSettings, node: Node, *, out: TextIO = sys.stderr) -> int:
    """Start the node and serve it until SIGTERM or Ctrl-C; the exit status.

    Raises `SettingsError` when the address cannot be had. The node must not be started yet.
    """
    listener = listen(settings.host, settings.port)
    app = create_app(node, ExportPages(node, version=__version__), settings)
    server = ExportServer(configured(app, lifespan="off"), node, most_failures=settings.exit_after_failures)
    before = signal.signal(signal.SIGTERM, leave)
    node.start()
    status, ended = 0, True
    try:
        base = base_url(settings.host, listener)
        print(f"stepscope export: {base}/metrics  (what there is: {base}/; Ctrl-C stops it)", file=out, flush=True)
        server.run(sockets=[listener])
    except KeyboardInterrupt:
        pass
    except SystemExit as leaving:
        status = leaving.code if isinstance(leaving.code, int) else 0
    finally:
        ended = node.stop()
        listener.close()
        signal.signal(signal.SIGTERM, before)
    if server.exhausted:
        _log.error("%s failed %d times in a row: leaving", server.exhausted, settings.exit_after_failures)
        status = FAILED
    if not ended:
        _leave_now(status)
    return status


def _leave_now(status: int) -> None:
    # A thread that is stuck in a driver would be waited for by whatever runs at exit.
    logging.shutdown()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)
