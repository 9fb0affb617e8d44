"""Connections that are over at a set time, whatever they are doing by then.

The time-outs of `requests` bound one operation on the socket each: a peer that sends a byte a second, of the status
line, the headers or the body, is never late. So the socket itself is ended at the deadline, from another thread.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import Any

from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool


class Limit:
    """The time that a request has. As a context it ends the request's connection when that is over."""

    def __init__(self, deadline: float, *, clock: Callable[[], float]) -> None:
        """`deadline` is as `clock` has it, in seconds."""
        self._deadline = deadline
        self._clock = clock
        self._lock = threading.Lock()
        self._socket: socket.socket | None = None
        self._timer = threading.Timer(max(0.0, self.left), self._end)
        self._timer.daemon = True
        self.connected = False
        """Whether there was a connection."""
        self.over = False
        """Whether the time is over."""

    @property
    def left(self) -> float:
        """Seconds until the deadline."""
        return self._deadline - self._clock()

    def connect(self, host: str, port: int) -> socket.socket:
        """A connection to the first address of `host` that takes one. OSError when none does in time.

        Looking up the name takes as long as the system's resolver does: nothing can end it.
        """
        failure: OSError = OSError(f"no address for {host}")
        for family, kind, protocol, _, where in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM):
            seconds = self.left
            if seconds <= 0.0:
                raise TimeoutError("timed out")
            made = socket.socket(family, kind, protocol)
            try:
                made.settimeout(seconds)
                made.connect(where)
                self._watch(made)
            except OSError as error:
                made.close()
                failure = error
                continue
            return made
        raise failure

    def _watch(self, made: socket.socket) -> None:
        with self._lock:
            if self._socket is not None:
                self._socket.close()
            # A copy, because TLS takes the original apart.
            self._socket = made.dup()
            self.connected = True
            if self.over:
                raise TimeoutError("timed out")

    def _end(self) -> None:
        with self._lock:
            self.over = True
            if self._socket is not None:
                with suppress(OSError):
                    self._socket.shutdown(socket.SHUT_RDWR)

    def __enter__(self) -> Limit:
        self._timer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._timer.cancel()
        with self._lock:
            if self._socket is not None:
                self._socket.close()
                self._socket = None


class LimitedAdapter(HTTPAdapter):
    """Makes the connections of a session through `limit`, the one of the request under way. For one thread."""

    def __init__(self) -> None:
        self.limit: Limit | None = None
        super().__init__(max_retries=0)

    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        """As the base does, with connections of ours."""
        super().init_poolmanager(*args, **kwargs)

        def connect(host: str, port: int) -> socket.socket:
            assert self.limit is not None
            return self.limit.connect(host, port)

        class Plain(HTTPConnection):
            def _new_conn(self) -> socket.socket:
                return connect(self.host, self.port or self.default_port)

        class Secure(HTTPSConnection):
            def _new_conn(self) -> socket.socket:
                return connect(self.host, self.port or self.default_port)

        class PlainPool(HTTPConnectionPool):
            ConnectionCls = Plain

        class SecurePool(HTTPSConnectionPool):
            ConnectionCls = Secure

        self.poolmanager.pool_classes_by_scheme = {"http": PlainPool, "https": SecurePool}
