"""The socket's file: what may lie where it is to be, who else may have it, and what is left afterwards."""

from __future__ import annotations

import os
import socket
import stat
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from exporter.sources.job.socket_file import SOCKET_REASONS, SocketError, open_socket


@pytest.fixture
def path() -> Iterator[str]:
    """A path that is short enough for a socket, whatever the folder of the tests is called."""
    with TemporaryDirectory(prefix="job-") as folder:
        yield f"{folder}/recorder.sock"


def problem(path: str) -> str:
    """The reason why there is no socket."""
    with pytest.raises(SocketError) as raised:
        open_socket(path)
    assert raised.value.reason in SOCKET_REASONS
    assert path in raised.value.detail
    return raised.value.reason


def stale(path: str, kind: socket.SocketKind = socket.SOCK_DGRAM) -> None:
    """A socket that nobody reads any more, as one that was killed leaves it."""
    with socket.socket(socket.AF_UNIX, kind) as dead:
        dead.bind(path)


def test_everybody_may_write_to_it_and_it_is_removed(path: str) -> None:
    file = open_socket(path)
    mode = os.lstat(path).st_mode
    assert stat.S_ISSOCK(mode)
    assert stat.S_IMODE(mode) == 0o666
    assert file.is_there
    file.close()
    assert os.listdir(Path(path).parent) == []


def test_the_folder_is_made_when_it_alone_is_missing(path: str) -> None:
    inner = f"{Path(path).parent}/stepscope/recorder.sock"
    before = os.umask(0o077)
    try:
        open_socket(inner).close()
    finally:
        os.umask(before)
    assert stat.S_IMODE(os.stat(Path(inner).parent).st_mode) == 0o755, "others reach it, and make nothing in it"
    assert problem(f"{Path(path).parent}/no/such/recorder.sock") == "path"


def test_a_stale_socket_is_replaced(path: str) -> None:
    stale(path)
    file = open_socket(path)
    assert file.is_there
    file.close()


def test_a_socket_that_somebody_reads_is_left_to_them(path: str) -> None:
    first = open_socket(path)
    assert problem(path) == "in_use"
    assert first.is_there
    first.close()
    open_socket(path).close()


@pytest.mark.parametrize("kind", [socket.SOCK_STREAM, socket.SOCK_SEQPACKET])
def test_a_socket_of_another_type_is_somebody_elses(path: str, kind: socket.SocketKind) -> None:
    with socket.socket(socket.AF_UNIX, kind) as other:
        other.bind(path)
        other.listen(1)
        assert problem(path) == "in_use"


def test_what_is_no_socket_is_not_removed(path: str) -> None:
    Path(path).write_text("mine")
    assert problem(path) == "path"
    assert Path(path).read_text() == "mine"
    os.unlink(path)
    os.mkdir(path)
    assert problem(path) == "path"


@pytest.mark.parametrize("target", ["live.sock", "stale.sock", "file", "nothing"])
def test_a_symbolic_link_is_not_followed(path: str, target: str) -> None:
    there = f"{Path(path).parent}/{target}"
    live = open_socket(there) if target == "live.sock" else None
    if target == "stale.sock":
        stale(there)
    if target == "file":
        Path(there).write_text("mine")
    os.symlink(there, path)
    assert problem(path) == "path"
    assert os.path.islink(path)
    assert os.path.lexists(there) == (target != "nothing")
    if live is not None:
        live.close()


def test_a_place_where_nothing_can_be_made(path: str) -> None:
    assert problem("/sys/recorder.sock") == "permission"
    Path(path).write_text("no folder")
    assert problem(f"{path}/recorder.sock") == "path"


def test_a_path_that_no_socket_can_have(path: str) -> None:
    assert problem(f"{Path(path).parent}/{'x' * 108}") == "path"


def test_it_notices_that_its_file_is_gone_or_another(path: str) -> None:
    first = open_socket(path)
    os.unlink(path)
    assert not first.is_there
    second = open_socket(path)
    assert second.is_there
    assert not first.is_there
    first.close()
    assert second.is_there, "closing the first must not remove the file of the second"
    second.close()


def test_no_descriptor_is_left_after_a_failure(path: str) -> None:
    Path(path).write_text("mine")
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(5):
        problem(path)
        problem("/sys/recorder.sock")
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_socket_that_is_closed_to_us_is_a_matter_of_permission(path: str) -> None:
    stale(path)
    os.chmod(path, 0)
    if os.geteuid() != 0:
        assert problem(path) == "permission"
        assert os.path.exists(path)
    else:  # Nothing is closed to root.
        open_socket(path).close()
