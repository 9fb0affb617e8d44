"""A dcgm-exporter on a real port that answers, well or badly, as a test says.

`with FakeExporter(page(body)) as fake:` serves `body` at `fake.url`; `fake.answer = …` changes what comes next. An
answer writes what it wants to the connection; there are no sleeps, only waits that end with the server.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType

PAGE = "text/plain; version=0.0.4; charset=utf-8"


class Connection:
    """One request, and the way to answer it."""

    def __init__(self, fake: FakeExporter, peer: socket.socket) -> None:
        self._fake = fake
        self._peer = peer

    def send(self, data: bytes) -> bool:
        """Send bytes; False when the client has gone or the server is to end."""
        try:
            self._peer.sendall(data)
        except OSError:
            return False
        with self._fake.lock:
            self._fake.sent += len(data)
        return not self._fake.ended.is_set()

    def wait(self, seconds: float) -> bool:
        """Do nothing for a while; False when the server is to end."""
        return not self._fake.ended.wait(seconds)


Answer = Callable[[Connection], None]


def head(status: int = 200, **headers: str) -> bytes:
    """Status line and headers; `Content_Type` becomes `Content-Type`."""
    lines = [f"HTTP/1.1 {status} Whatever", *(f"{name.replace('_', '-')}: {value}" for name, value in headers.items())]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def page(body: str | bytes, *, status: int = 200, **headers: str) -> Answer:
    """A whole answer with its length."""
    data = body.encode("utf-8") if isinstance(body, str) else body
    named = {"Content_Type": PAGE, "Content_Length": str(len(data))} | headers

    def answer(connection: Connection) -> None:
        connection.send(head(status, **named) + data)

    return answer


def kept_open(body: str) -> Answer:
    """A whole answer, on a connection that stays open and is not listened to any more."""
    answer_page = page(body)

    def answer(connection: Connection) -> None:
        answer_page(connection)
        silent(connection)

    return answer


def raw(data: bytes) -> Answer:
    """Exactly these bytes, then the end of the connection."""

    def answer(connection: Connection) -> None:
        connection.send(data)

    return answer


def silent(connection: Connection) -> None:
    """Take the request and never answer."""
    while connection.wait(60.0):
        pass


def dribble(data: bytes, *, first: bytes = b"", seconds: float = 0.02) -> Answer:
    """`first` at once, then `data` one byte at a time."""

    def answer(connection: Connection) -> None:
        if first and not connection.send(first):
            return
        for index in range(len(data)):
            if not connection.send(data[index : index + 1]) or not connection.wait(seconds):
                return

    return answer


def flood(count: int, *, first: bytes, block: bytes) -> Answer:
    """`first`, then `block` so many times or until the client has had enough."""

    def answer(connection: Connection) -> None:
        if connection.send(first):
            all(connection.send(block) for _ in range(count))

    return answer


class FakeExporter:
    """The server. It listens from the start; as a context it ends with all its connections."""

    def __init__(self, answer: Answer, *, host: str = "127.0.0.1", port: int = 0) -> None:
        """`port`: one of an earlier server, to come back there; 0 for a free one."""
        self.answer = answer
        """Answers every request from now on."""
        self.requests: list[str] = []
        """Request lines and headers as they came."""
        self.sent = 0
        """Bytes written, over all connections."""
        self.lock = threading.Lock()
        self.ended = threading.Event()
        self._listener = socket.create_server((host, port))
        self.port: int = self._listener.getsockname()[1]
        self.url = f"http://{host}:{self.port}/metrics"
        self._peers: list[socket.socket] = []
        self._threads = [threading.Thread(target=self._accept, daemon=True)]

    def __enter__(self) -> FakeExporter:
        self._threads[0].start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.ended.set()
        # Wakes `accept`, which closing alone does not.
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        with self.lock:
            peers = list(self._peers)
        for peer in peers:
            with suppress(OSError):
                peer.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(timeout=10.0)
        assert not any(thread.is_alive() for thread in self._threads)

    def _accept(self) -> None:
        while not self.ended.is_set():
            try:
                peer, _ = self._listener.accept()
            except OSError:
                return
            thread = threading.Thread(target=self._serve, args=(peer,), daemon=True)
            with self.lock:
                self._peers.append(peer)
                self._threads.append(thread)
            thread.start()

    def _serve(self, peer: socket.socket) -> None:
        with peer:
            asked = b""
            while not asked.endswith(b"\r\n\r\n"):
                try:
                    received = peer.recv(4096)
                except OSError:
                    return
                if not received:
                    return
                asked += received
            with self.lock:
                self.requests.append(asked.decode("latin-1"))
            self.answer(Connection(self, peer))
