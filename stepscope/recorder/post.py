"""The way of the reports: a local datagram socket that never blocks, and the thread that feeds it."""

from __future__ import annotations

import contextlib
import errno
import select
import socket
import threading
from collections.abc import Callable, Sequence

from stepscope.recorder.trouble import Trouble

INTERVAL_SECONDS = 1.0
"""Between reports; no recorder reports more often."""
_PATIENCE_SECONDS = 0.2
"""For the last report alone, when the exporter is behind with reading."""
_ABSENT = {errno.ENOENT, errno.ECONNREFUSED, errno.ENOTDIR}
"""Nobody listens there, which is no trouble."""
_GONE = {errno.ECONNREFUSED, errno.ENOTCONN, errno.ECONNRESET, errno.EPIPE, errno.EDESTADDRREQ}
"""Who listened there does no more."""


class Post:
    """Sends datagrams to the first of some sockets on which somebody listens."""

    def __init__(self, paths: Sequence[str], trouble: Trouble) -> None:
        self._paths = tuple(paths)
        self._trouble = trouble
        self._socket: socket.socket | None = None

    def connected(self) -> bool:
        """Whether somebody seems to listen; looks for them when not."""
        if self._socket is None and hasattr(socket, "AF_UNIX"):
            self._socket = next(filter(None, map(self._connect, self._paths)), None)
        return self._socket is not None

    def send(self, datagram: bytes, *, patient: bool = False) -> bool:
        """Whether it was taken. It is dropped when nobody listens or the socket is full: the next one says it all."""
        for _ in range(2):
            if not self.connected():
                return False
            assert self._socket is not None
            try:
                if patient:
                    _wait_for_room(self._socket)
                self._socket.send(datagram)
            except BlockingIOError:
                return False
            except OSError as error:
                # The exporter was started anew: its new socket is tried at once.
                if error.errno not in _GONE:
                    self._trouble.note("sending a report", error)
                self.close()
            else:
                return True
        return False

    def close(self) -> None:
        """Let go of the socket."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def _connect(self, path: str) -> socket.socket | None:
        candidate = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        candidate.setblocking(False)
        try:
            candidate.connect(path)
        except OSError as error:
            candidate.close()
            if error.errno not in _ABSENT:
                self._trouble.note(f"socket {path}", error)
            return None
        return candidate


def _wait_for_room(connection: socket.socket) -> None:
    poll = select.poll()
    poll.register(connection, select.POLLOUT)
    poll.poll(1e3 * _PATIENCE_SECONDS)


class Postman:
    """A daemon thread that calls `beat` once per interval until it is stopped."""

    def __init__(self, beat: Callable[[], None], *, interval: float, trouble: Trouble) -> None:
        self._beat = beat
        self._interval = interval
        self._trouble = trouble
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="stepscope-recorder", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Ask it to end and give it a moment."""
        self._stop.set()
        if self._thread is not threading.current_thread():
            with contextlib.suppress(RuntimeError):
                self._thread.join(timeout=2.0)

    def _run(self) -> None:
        while not self._stop.wait(self._interval):
            try:
                self._beat()
            except Exception as error:
                self._trouble.note("reporting", error)
