"""A recorder on a clock that the test turns, and the exporter's end of its socket."""

from __future__ import annotations

import json
import select
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from exporter.sources.job.check import check
from stepscope.recorder import StepRecorder
from stepscope.recorder.core import Ways

STARTED_UNIX = 1_700_000_000.0
NEVER = 1e6


class Clock:
    """Stands still until it is turned."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now

    def unix(self) -> float:
        """The calendar of this clock."""
        return STARTED_UNIX + self.now - 100.0

    def turn(self, seconds: float) -> None:
        """Let time pass."""
        self.now += seconds


class Listener:
    """A datagram socket as the exporter has it."""

    def __init__(self, path: Path) -> None:
        self.path = str(path)
        path.unlink(missing_ok=True)
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind(self.path)
        self._socket.setblocking(False)

    def reports(self, *, within: float = 0.0) -> list[dict[str, Any]]:
        """What has arrived, the oldest first, each as the exporter accepts it; waits for the first at most so long."""
        select.select([self._socket], [], [], within)
        found: list[dict[str, Any]] = []
        while True:
            try:
                datagram = self._socket.recv(65_536)
            except BlockingIOError:
                return found
            report = json.loads(datagram)
            check(datagram, now=report["time"])
            found.append(report)

    def close(self) -> None:
        """Stop listening; the path stays, as after a kill."""
        self._socket.close()


@dataclass(frozen=True, slots=True)
class Bench:
    """A recorder whose thread never wakes, its clock and its listener."""

    rec: StepRecorder
    clock: Clock
    listener: Listener

    def report(self) -> dict[str, Any]:
        """What it reports now."""
        self.listener.reports()
        self.rec._core.beat()
        (report,) = self.listener.reports()
        return report


@contextmanager
def recording(folder: Path, **settings: Any) -> Iterator[Bench]:
    """A recorder of a job of one token per step unless told otherwise."""
    clock = Clock()
    listener = Listener(folder / "recorder.sock")
    given = {"run": "test", "tokens_per_step": 1, "flops_per_token": 6.0, **settings}
    rec = StepRecorder(socket=listener.path, ways=ways(clock), **given)
    try:
        yield Bench(rec, clock, listener)
    finally:
        rec.close()
        listener.close()


def ways(clock: Clock) -> Ways:
    """A clock that is turned, and a thread that sleeps through the test."""
    return Ways(clock=clock, unix=clock.unix, sleep=clock.turn, interval=NEVER)
