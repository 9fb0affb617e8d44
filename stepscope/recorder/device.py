"""Moments on a CUDA stream, measured by events that are read back later. Nothing here ever waits for the device.

The host runs ahead: it marks the end of `forward` long before the device gets there. So each mark records an event on
the current stream, and the books are kept in the device's time: a phase lasts from the moment the stream reaches its
mark until it reaches the next. `data_wait` is then the time for which the device has no batch, whatever the host does.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from stepscope.recorder.books import Books
from stepscope.recorder.timeline import Clock
from stepscope.recorder.trouble import Trouble

MAX_PENDING = 4096
"""Marks that the device has not reached. It follows closer than this: its own launch queue is shorter."""

Entry = Callable[..., None]


@dataclass(slots=True)
class _Mark:
    event: Any
    host: float
    """When it was recorded; the device reaches it no earlier."""
    entries: list[tuple[Entry, tuple[int, ...]]] = field(default_factory=list)


class DeviceTimeline:
    """As HostTimeline, by the clock of the device. `torch` is the module, or one that behaves like it."""

    def __init__(self, books: Books, clock: Clock, *, torch: Any, trouble: Trouble) -> None:
        self._books = books
        self._clock = clock
        self._cuda = torch.cuda
        self._trouble = trouble
        self._pool: list[Any] = []
        self._pending: deque[_Mark] = deque()
        self._base: Any = None
        self._reached = books.since
        """When the device reached `_base`, in the host's clock."""
        self._broken = False

    @property
    def events(self) -> int:
        """Events held, in use or not; bounded, and steady once the job is."""
        return len(self._pool) + len(self._pending) + (self._base is not None)

    def mark(self, entry: Entry, *values: int) -> None:
        """Record an event; `entry` is called once the device has passed it."""
        if not self._broken:
            try:
                self._record(entry, values)
                return
            except Exception as error:
                self._give_up(error)
        with self._books.lock:
            entry(*values, max(self._clock(), self._reached))

    def turn(self, phase: int) -> None:
        """`mark(books.turn, phase)`."""
        self.mark(self._books.turn, phase)

    def settle(self, *, now: float) -> bool:
        """Enter every mark that the device has passed."""
        try:
            with self._books.lock:
                while self._pending and self._pending[0].event.query():
                    self._enter(self._pending.popleft(), now)
        except Exception as error:
            self._give_up(error)
        return not self._pending

    def seconds_between(self, first: Any, last: Any) -> float | None:
        """From one recorded event to another; None until the device has passed both."""
        if not (first.query() and last.query()):
            return None
        return float(first.elapsed_time(last)) / 1e3

    def recorded_event(self) -> Any:
        """An event just recorded on the current stream, for whoever times something beside the phases."""
        event = self._cuda.Event(enable_timing=True)
        event.record()
        return event

    def _record(self, entry: Entry, values: tuple[int, ...]) -> None:
        with self._books.lock:
            if len(self._pending) >= MAX_PENDING:
                # Phases blur, and no step is lost.
                self._pending[-1].entries.append((entry, values))
                return
            event = self._pool.pop() if self._pool else self._cuda.Event(enable_timing=True)
            host = self._clock()
            event.record()
            self._pending.append(_Mark(event, host, [(entry, values)]))

    def _enter(self, mark: _Mark, now: float) -> None:
        """The two clocks are tied together by what is certain: no event is reached before it was recorded."""
        elapsed = 0.0 if self._base is None else float(self._base.elapsed_time(mark.event)) / 1e3
        self._reached = max(self._reached, min(now, max(self._reached + elapsed, mark.host)))
        if self._base is not None:
            self._pool.append(self._base)
        self._base = mark.event
        for entry, values in mark.entries:
            entry(*values, self._reached)

    def _give_up(self, error: Exception) -> None:
        """The device does not answer any more: go on by the clock of the host."""
        self._trouble.note("CUDA events", error)
        self._broken = True
        with self._books.lock:
            now = max(self._clock(), self._reached)
            while self._pending:
                for entry, values in self._pending.popleft().entries:
                    entry(*values, now)
            self._pool.clear()
            self._base = None
