"""Answers that are the same for everybody until the next tick: written once, sent as bytes to a room of viewers."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable

_KEPT = 64
"""Different questions about one moment; answers of a large job are hundreds of kilobytes."""


class Fresh:
    """Bodies by question, those of one moment only. May be used from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._moment: Hashable = None
        self._bodies: OrderedDict[Hashable, str] = OrderedDict()

    def known(self, moment: Hashable, question: Hashable) -> str | None:
        """What was written already; it costs next to nothing, also on the event loop."""
        with self._lock:
            return self._bodies.get(question) if moment == self._moment else None

    def body(self, moment: Hashable, question: Hashable, write: Callable[[], str]) -> str:
        """What `write` returned first for this question and moment. Two who ask at once may both write."""
        with self._lock:
            if moment != self._moment:
                self._moment = moment
                self._bodies.clear()
            if question in self._bodies:
                return self._bodies[question]
        written = write()
        with self._lock:
            if moment == self._moment:
                self._bodies[question] = written
                while len(self._bodies) > _KEPT:
                    self._bodies.popitem(last=False)
        return written
