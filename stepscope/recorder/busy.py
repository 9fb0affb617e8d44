"""Time in collectives, overlapped and waiting included, and the bytes that they move."""

from __future__ import annotations

import threading
from collections import deque
from typing import Any

from stepscope.recorder.timeline import Clock

MAX_PENDING = 1024


class Busy:
    """The union of the collectives' times: two at once count once, as on a device that runs one after the other.

    On a host, `begins` and `ends` are called when it happens, from any thread. On a device, `device_span` is given the
    events between which a collective ran; they are read when both have passed.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.lock = threading.RLock()
        self._seen = False
        self._bytes = self._seconds = 0.0
        self._running = 0
        self._since = 0.0
        self._spans: deque[tuple[Any, Any]] = deque()
        self._last_end: Any = None

    def moves(self, count: float) -> None:
        """So many bytes, as bus bandwidth counts them, are to move."""
        with self.lock:
            self._seen = True
            self._bytes += count

    def begins(self) -> None:
        """A collective begins on the host."""
        with self.lock:
            if not self._running:
                self._since = self._clock()
            self._running += 1

    def ends(self) -> None:
        """One of them is over."""
        with self.lock:
            self._running -= 1
            if not self._running:
                self._seconds += max(0.0, self._clock() - self._since)

    def device_span(self, first: Any, last: Any) -> None:
        """A collective between two recorded events, in the order in which they were started."""
        with self.lock:
            if len(self._spans) < MAX_PENDING:
                self._spans.append((first, last))

    def settle(self) -> bool:
        """Add the spans that the device has passed; True when none is left."""
        with self.lock:
            while self._spans and self._spans[0][0].query() and self._spans[0][1].query():
                first, last = self._spans.popleft()
                spent = float(first.elapsed_time(last)) / 1e3
                if self._last_end is not None:
                    spent = min(spent, float(self._last_end.elapsed_time(last)) / 1e3)
                self._seconds += max(0.0, spent)
                self._last_end = last
            return not self._spans

    def totals(self) -> tuple[float, float] | None:
        """Seconds, those of a running collective included, and bytes; None before the first."""
        with self.lock:
            if not self._seen:
                return None
            running = max(0.0, self._clock() - self._since) if self._running else 0.0
            return self._seconds + running, self._bytes
