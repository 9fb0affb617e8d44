"""The thread that reads recorders' datagrams, and keeps the socket that they come through.

A flood costs little: each user has so many datagrams a second that are looked at, what is beyond is read and thrown
away, and after a burst the thread rests for as long as it worked. The kernel's queue, of ten datagrams, is then full:
senders that wait a moment for room get their turn, others may not.
"""

from __future__ import annotations

import array
import logging
import os
import select
import socket
import struct
import threading
import time
from collections.abc import Callable, Sequence

from exporter.sources.job.allowance import Allowance
from exporter.sources.job.socket_file import SocketError, SocketFile, open_socket
from exporter.sources.job.wire import MAX_BYTES

LOG = logging.getLogger(__name__)

RECEIVER_REASONS = ("flood", "unexpected")
"""Why a datagram can be thrown away: before anybody has looked at it, or because looking at it failed."""
PER_USER_PER_SECOND = 1000
"""Datagrams of one user that are looked at: twice what all the ranks send that it can have."""
LOOK_SECONDS = 1.0
"""How often the socket's file is looked for, and how long after a failure it is tried again."""

_BURST = 64
_REST_SECONDS = 0.005
_CREDENTIALS = struct.Struct("=iII")
"""`struct ucred`: pid, uid, gid."""
_NOBODY = (1 << 32) - 2

Say = Callable[[str, str], None]
"""Takes a reason and a sentence."""


class Receiver:
    """Reads the socket at the first of `paths` where it can be had."""

    def __init__(
        self,
        paths: Sequence[str],
        *,
        take: Callable[[bytes, int], None],
        refuse: Say,
        fail: Say,
        look_seconds: float = LOOK_SECONDS,
    ) -> None:
        """All three are called from one thread at a time. `take` gets a datagram and its sender's uid; `refuse` why one
        was thrown away, one of RECEIVER_REASONS; `fail` why there is no socket, one of SOCKET_REASONS, once for each
        time that it is lost, or cannot be had for another reason than before.
        """
        self._paths = tuple(paths)
        self._take = take
        self._refuse = refuse
        self._fail = fail
        self._look_seconds = look_seconds
        self._allowance = Allowance(PER_USER_PER_SECOND)
        self._file: SocketFile | None = None
        self._failed = ""
        self._stop = threading.Event()
        self._wake: socket.socket | None = None
        self._thread: threading.Thread | None = None

    @property
    def path(self) -> str:
        """Path of the socket that is read; empty while there is none, or nobody to read it."""
        file, thread = self._file, self._thread
        return file.path if file is not None and thread is not None and thread.is_alive() else ""

    def start(self) -> None:
        """Try for the socket, so that recorders find it from now on, and start the thread."""
        assert self._thread is None
        self._keep()
        self._wake, woken = socket.socketpair()
        self._thread = threading.Thread(target=self._work, args=[woken], name="job-receiver", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop the thread and remove the socket. Nothing is called afterwards."""
        self._stop.set()
        if self._wake is not None and self._thread is not None:
            self._wake.close()
            self._thread.join()
        self._drop_file()

    def _work(self, woken: socket.socket) -> None:
        with woken:
            while not self._stop.is_set():
                try:
                    self._keep()
                    self._read(woken, time.monotonic() + self._look_seconds)
                except OSError as error:
                    self._lose("os_error", str(error))
                    self._stop.wait(self._look_seconds)

    def _keep(self) -> None:
        """See that there is a socket, if one can be had."""
        if self._file is not None:
            if self._file.is_there:
                return
            LOG.warning("job source: %s is gone or another's; trying for it again", self._file.path)
            self._drop_file()
        for path in self._paths:
            try:
                self._file = open_socket(path)
            except SocketError as error:
                problem = error
                if error.reason == "in_use":
                    break  # Recorders report to who has it, and look no further either.
            else:
                self._failed = ""
                LOG.info("job source: recorders report to %s", path)
                return
        self._lose(problem.reason, problem.detail)

    def _lose(self, reason: str, detail: str) -> None:
        self._drop_file()
        if reason != self._failed:
            self._failed = reason
            self._fail(reason, detail)

    def _drop_file(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def _read(self, woken: socket.socket, until: float) -> None:
        """Read what comes until then, in `time.monotonic`, or until the other end of `woken` is closed."""
        waiting = select.poll()
        waiting.register(woken, select.POLLIN)
        if self._file is not None:
            waiting.register(self._file.socket, select.POLLIN)
        while not self._stop.is_set() and (left := until - time.monotonic()) > 0:
            if waiting.poll(1000 * left) and self._file is not None:
                started = time.monotonic()
                if self._burst(self._file.socket):
                    self._stop.wait(max(time.monotonic() - started, _REST_SECONDS))

    def _burst(self, receiver: socket.socket) -> bool:
        """Read until nothing is left. Whether it stopped before that."""
        for _ in range(_BURST):
            try:
                # One byte more than a report can have, and no room for descriptors.
                datagram, ancillary, _, _ = receiver.recvmsg(MAX_BYTES + 1, socket.CMSG_LEN(_CREDENTIALS.size))
            except BlockingIOError:
                return False
            user = _sender(ancillary)
            if not self._allowance.spend(user):
                self._refuse("flood", f"user {user} sends more than {PER_USER_PER_SECOND} datagrams a second")
            else:
                self._look(datagram, user)
        return True

    def _look(self, datagram: bytes, user: int) -> None:
        try:
            self._take(datagram, user)
        except Exception as error:  # One datagram must not cost the others their listener.
            LOG.exception("job source: a datagram that nobody thought of")
            self._refuse("unexpected", type(error).__name__)


def _sender(ancillary: Sequence[tuple[int, int, bytes]]) -> int:
    """The uid in what came beside a datagram."""
    user = _NOBODY
    for level, kind, data in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_CREDENTIALS and len(data) >= _CREDENTIALS.size:
            _, user, _ = _CREDENTIALS.unpack_from(data)
        elif level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            # There is no room for them, so the kernel keeps them. If it ever does not, they must not pile up here.
            handles = array.array("i")
            handles.frombytes(data[: len(data) - len(data) % handles.itemsize])
            for handle in handles:
                os.close(handle)
    return user
