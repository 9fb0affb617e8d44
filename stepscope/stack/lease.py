"""What is broken right now, in a file: written before anything is broken, so that a crash leaves nobody in the dark."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from stepscope.stack.errors import StackError


@dataclass(frozen=True, slots=True)
class Lease:
    """A container that is broken for a while."""

    id: str
    engine: str
    project: str
    service: str
    action: str
    container: str
    """Its id: one that was made anew is not broken."""
    memory: Mapping[str, Any]
    """What undoing needs."""
    began: float
    """Unix seconds."""
    until: float
    process: int

    @property
    def says(self) -> str:
        """For people."""
        end = datetime.fromtimestamp(self.until, UTC).astimezone().strftime("%H:%M:%S")
        return f"{self.action} until {end} by process {self.process}"


def state_file(environ: Mapping[str, str], *, home: Path) -> Path:
    """Below XDG_STATE_HOME, or its default."""
    base = environ.get("XDG_STATE_HOME") or ""
    # A relative path is invalid by the XDG specification, and would differ from one folder to the next.
    folder = Path(base) if os.path.isabs(base) else home / ".local" / "state"
    return folder / "stepscope" / "chaos.json"


class LeaseFile:
    """The leases of this user. Each change is atomic, and one process at a time makes it."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def leases(self, *, engine: str, project: str) -> list[Lease]:
        """Those of a project."""
        return [lease for lease in self._read() if (lease.engine, lease.project) == (engine, project)]

    def add(self, lease: Lease) -> None:
        """Keep a lease; StackError when its service is leased already."""

        def change(leases: list[Lease]) -> list[Lease]:
            _refuse_second(leases, engine=lease.engine, project=lease.project, service=lease.service)
            return [*leases, lease]

        self._change(change)

    def check_free(self, *, engine: str, project: str, service: str) -> None:
        """StackError when the service is leased."""
        _refuse_second(self._read(), engine=engine, project=project, service=service)

    def remove(self, lease_id: str) -> None:
        """Forget a lease, if it is there."""
        self._change(lambda leases: [lease for lease in leases if lease.id != lease_id])

    def holds(self, lease_id: str) -> bool:
        """Whether it is there."""
        return any(lease.id == lease_id for lease in self._read())

    def _change(self, change: Callable[[list[Lease]], list[Lease]]) -> None:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            with self._locked():
                self._write(change(self._read()))
        except OSError as error:
            raise StackError(f"{self.path} cannot be written ({error.strerror})") from error

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        # A file beside it: the one with the leases is replaced at each change.
        with self.path.with_suffix(".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def _read(self) -> list[Lease]:
        try:
            found = json.loads(self.path.read_text(encoding="utf-8"))
            return [Lease(**{field.name: row[field.name] for field in fields(Lease)}) for row in found["leases"]]
        except FileNotFoundError:
            return []
        except OSError as error:
            raise StackError(f"{self.path} cannot be read ({error.strerror})") from error
        except (ValueError, KeyError, TypeError) as error:
            raise StackError(
                f"{self.path} is not a file of leases; put right what docker compose ps shows, then remove the file"
            ) from error

    def _write(self, leases: list[Lease]) -> None:
        beside = self.path.with_suffix(f".{os.getpid()}")
        with beside.open("w", encoding="utf-8") as file:
            json.dump({"leases": [asdict(lease) for lease in leases]}, file, indent=2)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(self.path)


def _refuse_second(leases: Iterable[Lease], *, engine: str, project: str, service: str) -> None:
    for lease in leases:
        if (lease.engine, lease.project, lease.service) == (engine, project, service):
            raise StackError(f"{service} is broken already: {lease.says}; stepscope chaos reset ends it")
