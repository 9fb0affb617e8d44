"""The clock as a parameter: real time here, a clock that tests turn by hand there."""

from __future__ import annotations

import time
from typing import Protocol


class Clock(Protocol):
    """What the engine asks of a clock."""

    def monotonic(self) -> float:
        """Seconds that never run backwards."""
        ...

    def time(self) -> float:
        """Unix seconds, which may jump."""
        ...


class SystemClock:
    """The machine's clocks."""

    def monotonic(self) -> float:
        """Seconds since some fixed moment."""
        return time.monotonic()

    def time(self) -> float:
        """Unix seconds."""
        return time.time()


class ManualClock:
    """A clock that stands still until somebody turns it."""

    def __init__(self, *, at: float = 1_700_000_000.0) -> None:
        self._wall = at
        self._elapsed = 0.0

    def monotonic(self) -> float:
        """Seconds turned so far."""
        return self._elapsed

    def time(self) -> float:
        """Unix seconds."""
        return self._wall

    def turn(self, seconds: float) -> None:
        """Let time pass."""
        self._elapsed += seconds
        self._wall += seconds

    def set_wall(self, seconds: float) -> None:
        """Move the wall clock alone, as an administrator or a laptop waking up does."""
        self._wall += seconds
