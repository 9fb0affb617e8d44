"""When something happened: by the clock of the host, or of the device that the host runs ahead of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from stepscope.recorder.books import Books

Clock = Callable[[], float]


class Timeline(Protocol):
    """Enters moments in the books."""

    def mark(self, entry: Callable[..., None], *values: int) -> None:
        """Call `entry(*values, now)` with the moment of this call, now or later, in the order of the calls."""

    def turn(self, phase: int) -> None:
        """`mark(books.turn, phase)`, of which there are most."""

    def settle(self, *, now: float) -> bool:
        """Enter what has become known by now; True when nothing is left to enter."""


class HostTimeline:
    """Things happen when the host says so. Right where it computes itself, or waits for what it started."""

    def __init__(self, books: Books, clock: Clock) -> None:
        self._books = books
        self._turn = books.turn
        self._clock = clock

    def turn(self, phase: int) -> None:
        """At once."""
        with self._books.lock:
            self._turn(phase, self._clock())

    def mark(self, entry: Callable[..., None], *values: int) -> None:
        """At once."""
        with self._books.lock:
            entry(*values, self._clock())

    def settle(self, *, now: float) -> bool:
        """Nothing is ever left."""
        return True


def loaded_cuda() -> Any | None:
    """The `torch` module when this process has imported it and uses CUDA. Starts neither."""
    import sys

    torch = sys.modules.get("torch")
    try:
        return torch if torch is not None and torch.cuda.is_initialized() else None
    except Exception:  # half imported, or a build without CUDA
        return None
