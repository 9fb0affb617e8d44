"""The thread between the socket and the book: a real socket, real senders."""

from __future__ import annotations

import array
import os
import socket
import struct
import threading
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from exporter.sources.job.receiver import PER_USER_PER_SECOND, Receiver
from exporter.sources.job.wire import MAX_BYTES
from tests.exporter.job.reports import until


@pytest.fixture
def folder() -> Iterator[Path]:
    """Short enough for sockets."""
    with TemporaryDirectory(prefix="job-") as name:
        yield Path(name)


class Heard:
    """A receiver and what it said."""

    def __init__(self, *paths: Path) -> None:
        self.taken: list[tuple[bytes, int]] = []
        self.refused: list[str] = []
        self.failed: list[str] = []
        self.poison = b"poison"
        self.receiver = Receiver(
            [str(path) for path in paths],
            take=self._take,
            refuse=lambda reason, detail: self.refused.append(reason),
            fail=lambda reason, detail: self.failed.append(reason),
            look_seconds=0.02,
        )

    def _take(self, datagram: bytes, user: int) -> None:
        if datagram == self.poison:
            raise ZeroDivisionError("nobody thought of this")
        self.taken.append((datagram, user))

    def __enter__(self) -> Heard:
        self.receiver.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.receiver.close()


def sender(path: Path) -> socket.socket:
    """A connected socket that does not block."""
    made = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    made.connect(str(path))
    return made


def test_a_datagram_arrives_with_the_senders_uid(folder: Path) -> None:
    path = folder / "a.sock"
    with Heard(path) as heard, sender(path) as out:
        out.send(b"hello")
        out.send(b"")
        until(lambda: len(heard.taken) == 2)
        assert heard.taken == [(b"hello", os.getuid()), (b"", os.getuid())]
        assert heard.receiver.path == str(path)
    assert not path.exists()


def test_a_sender_cannot_say_that_it_is_somebody_else(folder: Path) -> None:
    path = folder / "a.sock"
    forged = struct.pack("=iII", os.getpid(), 4242, 0)
    with Heard(path) as heard, sender(path) as out:
        ancillary = [(socket.SOL_SOCKET, socket.SCM_CREDENTIALS, forged)]
        if os.getuid() != 0:
            with pytest.raises(PermissionError):
                out.sendmsg([b"lie"], ancillary)
            return
        # Root may: it could be any user anyway.
        out.sendmsg([b"lie"], ancillary)
        until(lambda: bool(heard.taken))
        assert heard.taken == [(b"lie", 4242)]


def test_no_more_is_read_than_it_takes_to_see_that_it_is_too_long(folder: Path) -> None:
    path = folder / "a.sock"
    with Heard(path) as heard, sender(path) as out:
        out.send(b"x" * (4 * MAX_BYTES))
        out.send(b"y" * MAX_BYTES)
        until(lambda: len(heard.taken) == 2)
        assert [len(datagram) for datagram, _ in heard.taken] == [MAX_BYTES + 1, MAX_BYTES]


def test_descriptors_that_are_sent_along_do_not_pile_up(folder: Path) -> None:
    path = folder / "a.sock"
    with Heard(path) as heard, sender(path) as out, open(os.devnull, "rb") as gift:
        handles = array.array("i", [gift.fileno()] * 100)
        before = len(os.listdir("/proc/self/fd"))
        for _ in range(20):
            out.sendmsg([b"take this"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, handles)])
        until(lambda: len(heard.taken) == 20)
        assert len(os.listdir("/proc/self/fd")) == before
        assert {user for _, user in heard.taken} == {os.getuid()}


def test_a_datagram_that_breaks_something_costs_itself_alone(folder: Path) -> None:
    path = folder / "a.sock"
    with Heard(path) as heard, sender(path) as out:
        out.send(heard.poison)
        out.send(b"next")
        until(lambda: bool(heard.taken))
        assert heard.refused == ["unexpected"]
        assert heard.failed == []


def test_a_socket_that_was_deleted_or_taken_is_made_again(folder: Path) -> None:
    path = folder / "a.sock"
    with Heard(path) as heard:
        path.unlink()
        until(path.exists)
        with sender(path) as out:
            out.send(b"again")
            until(lambda: bool(heard.taken))
        assert heard.failed == []
        path.unlink()
        path.write_text("in the way")
        until(lambda: heard.failed == ["path"])
        assert heard.receiver.path == ""
        path.unlink()
        until(path.exists)
        until(lambda: heard.receiver.path == str(path))


def test_a_second_one_waits_until_the_first_has_gone(folder: Path) -> None:
    path = folder / "a.sock"
    with Heard(path) as first, Heard(path, folder / "other.sock") as second:
        assert second.failed == ["in_use"]
        assert second.receiver.path == "", "recorders would not look in the second place"
        first.receiver.close()
        until(lambda: second.receiver.path == str(path))
        assert second.failed == ["in_use"], "counted once, however often it is tried"
    assert not path.exists()


def test_the_next_place_is_taken_where_the_first_is_not_allowed(folder: Path) -> None:
    with Heard(Path("/sys/stepscope/a.sock"), folder / "b.sock") as heard:
        assert heard.receiver.path == str(folder / "b.sock")
        assert heard.failed == []


def test_closing_twice_or_unstarted_is_harmless(folder: Path) -> None:
    heard = Heard(folder / "a.sock")
    heard.receiver.close()
    heard.receiver.close()
    assert not any(thread.name == "job-receiver" for thread in threading.enumerate())


def test_a_flood_is_cut_off_and_forgotten_when_it_is_over(folder: Path) -> None:
    path = folder / "a.sock"
    with Heard(path) as heard, sender(path) as out:
        out.setblocking(False)
        stop = threading.Event()

        def flood() -> None:
            while not stop.is_set():
                try:
                    out.send(b"[" * 100)
                except BlockingIOError:
                    stop.wait(0.0001)

        thread = threading.Thread(target=flood)
        thread.start()
        try:
            until(lambda: "flood" in heard.refused)
        finally:
            stop.set()
            thread.join()
        seen = len(heard.taken)
        assert seen >= PER_USER_PER_SECOND
        assert set(heard.refused) == {"flood"}
        until(lambda: _answers(out, heard))


def _answers(out: socket.socket, heard: Heard) -> bool:
    """Whether a datagram gets through again."""
    try:
        out.send(b"calm")
    except BlockingIOError:
        return False
    return (b"calm", os.getuid()) in heard.taken
