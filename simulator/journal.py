"""The append-only log of what happened: faults, resets, runs, and the engine's own trouble."""

from __future__ import annotations

import threading
from collections import Counter, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from faults.record import FaultEvent
    from simulator.run import Run

JOURNAL_ENTRIES = 10_000


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing that happened."""

    seq: int
    """Counts from 1 and never repeats in a process."""
    time: str
    """RFC 3339, UTC."""
    run: str
    seconds: float
    """Simulated seconds since the run began."""
    step: int
    """First step that can feel it."""
    event: str
    kind: str | None
    """Fault kind, where a fault is concerned."""
    name: str | None
    """Fault name, likewise."""
    detail: str


class Journal:
    """Entries in order, the newest JOURNAL_ENTRIES of them. May be used from any thread."""

    def __init__(self, *, now: Callable[[], float], entries: int = JOURNAL_ENTRIES) -> None:
        self._now = now
        self._entries: deque[Entry] = deque(maxlen=entries)
        self._counts: Counter[tuple[str, str]] = Counter()
        self._changed = threading.Condition()
        self._seq = 0
        self._closed = False

    @property
    def last_seq(self) -> int:
        """Sequence number of the newest entry; 0 when there is none."""
        return self._seq

    @property
    def closed(self) -> bool:
        """Whether nothing more will come."""
        return self._closed

    def add(self, run: Run, event: str, *, detail: str = "") -> None:
        """Something that no single fault did."""
        self._append(run, event, seconds=run.seconds, step=run.next_step, kind=None, name=None, detail=detail)

    def add_start(self, run: Run, *, detail: str) -> None:
        """A run began, however far it has come meanwhile."""
        self._append(run, "run_started", seconds=0.0, step=0, kind=None, name=None, detail=detail)

    def add_fault(self, run: Run, event: FaultEvent) -> None:
        """A change in the life of a fault."""
        self._append(
            run, event.event, seconds=event.at_seconds, step=event.step, kind=event.kind, name=event.name,
            detail=event.detail,
        )  # fmt: skip

    def after(self, seq: int, *, most: int | None = None) -> list[Entry]:
        """Entries newer than `seq` that are still kept, oldest first; the first `most` of them."""
        with self._changed:
            # Numbers have no gaps: how many to leave out follows from the first one.
            begin = max(0, seq + 1 - self._entries[0].seq) if self._entries else 0
            return list(islice(self._entries, begin, None if most is None else begin + most))

    def wait_after(self, seq: int, *, timeout_seconds: float) -> list[Entry]:
        """As `after`, but waits until there is one, the time is over, or the journal is closed."""
        with self._changed:
            self._changed.wait_for(lambda: self._closed or self._seq > seq, timeout_seconds)
        return self.after(seq)

    def fault_counts(self) -> Mapping[tuple[str, str], int]:
        """Number of fault events by (kind, event) since the process began."""
        with self._changed:
            return dict(self._counts)

    def close(self) -> None:
        """Wake everybody who waits; nothing more will come."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def _append(
        self, run: Run, event: str, *, seconds: float, step: int, kind: str | None, name: str | None, detail: str
    ) -> None:
        moment = datetime.fromtimestamp(self._now(), tz=UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        with self._changed:
            self._seq += 1
            self._entries.append(Entry(self._seq, moment, run.info.run, seconds, step, event, kind, name, detail))
            if kind is not None:
                self._counts[kind, event] += 1
            self._changed.notify_all()
