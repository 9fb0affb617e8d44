"""The socket that recorders write to: made safely where others may have put something, and given back."""

from __future__ import annotations

import errno
import os
import socket
import stat
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

SOCKET_REASONS = ("in_use", "path", "permission", "os_error")
"""Why there can be no socket: another exporter has it; the path leads nowhere or to something else; not allowed; or
what the system says."""

_LONGEST = 107
"""Bytes of a path that a Unix socket can have."""


class SocketError(Exception):
    """No socket. `reason` is one of SOCKET_REASONS, `detail` a sentence that names the path."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason
        self.detail = detail


@dataclass(frozen=True, slots=True)
class SocketFile:
    """A bound datagram socket that everybody on this machine may write to."""

    path: str
    socket: socket.socket
    identity: tuple[int, int]
    """Device and inode. The number is not given to another file while the socket is open."""

    @property
    def is_there(self) -> bool:
        """Whether the path still leads to this socket; recorders cannot reach it otherwise."""
        return _identity(self.path) == self.identity

    def close(self) -> None:
        """Close the socket, and remove its file if it is still this one's."""
        if self.is_there:
            with suppress(OSError):  # Nobody is helped by an error here: the next exporter finds it stale.
                os.unlink(self.path)
        self.socket.close()


def open_socket(path: str) -> SocketFile:
    """Bind a socket to `path`, in place of a stale one. Raises SocketError.

    The folder is made when it alone is missing. A symbolic link is not followed, and what is not a socket not removed.
    Two exporters that start in the same moment may both succeed; the one whose file is gone notices by `is_there`.
    """
    if len(os.fsencode(path)) > _LONGEST:
        raise SocketError("path", f"{path}: a socket's path has at most {_LONGEST} bytes")
    try:
        _prepare(path)
        receiver = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        try:
            return _bound(receiver, path)
        except BaseException:
            receiver.close()
            raise
    except PermissionError as error:
        raise SocketError("permission", f"{path}: {error.strerror}") from error
    except (FileNotFoundError, FileExistsError, NotADirectoryError) as error:
        raise SocketError("path", f"{path}: {error.strerror}") from error
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise SocketError("in_use", f"{path}: another exporter has just made it") from error
        if error.errno == errno.EROFS:
            raise SocketError("permission", f"{path}: {error.strerror}") from error
        raise SocketError("os_error", f"{path}: {error.strerror or error}") from error


def _prepare(path: str) -> None:
    """Make the folder, and remove a socket that nobody reads."""
    folder = Path(path).parent
    if not folder.exists():
        folder.mkdir()
        folder.chmod(0o755)  # Whatever the umask: other users' recorders must get through.
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(found.st_mode):
        raise SocketError("path", f"{path} is there and is not a socket; remove it")
    if _is_read(path):
        raise SocketError("in_use", f"{path} belongs to another exporter that is running")
    os.unlink(path)


def _is_read(path: str) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(path)
        except ConnectionRefusedError:
            return False
        except PermissionError:
            raise
        except OSError:
            return True  # Of another type: somebody else's, and not ours to remove.
    return True


def _bound(receiver: socket.socket, path: str) -> SocketFile:
    receiver.setblocking(False)
    # With every datagram the kernel says who sent it, which no sender can forge.
    receiver.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
    receiver.bind(path)
    # By descriptor: in a folder that others may write to, the name could be another file's by now.
    handle = os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        found = os.fstat(handle)
        if not stat.S_ISSOCK(found.st_mode) or found.st_uid != os.geteuid():
            raise SocketError("in_use", f"{path}: replaced while it was made")
        os.chmod(f"/proc/self/fd/{handle}", 0o666)
    finally:
        os.close(handle)
    return SocketFile(path, receiver, (found.st_dev, found.st_ino))


def _identity(path: str) -> tuple[int, int] | None:
    try:
        found = os.lstat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino
