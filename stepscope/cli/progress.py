"""A progress bar for long headless work, on a terminal only."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from typing import TextIO

_WIDTH = 24
_EVERY_SECONDS = 0.1


class Bar:
    """Draws itself on `stream` when told how far the work is, ten times a second at most; nothing off a terminal."""

    def __init__(
        self, stream: TextIO, *, title: str, unit: str = "steps", clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._stream = stream
        self._title = title
        self._unit = unit
        self._clock = clock
        self._shown = stream.isatty()
        self._began = clock()
        self._next = self._began + _EVERY_SECONDS
        self._length = 0

    def __call__(self, done: int, total: int) -> None:
        """`done` of `total` steps are over."""
        if not self._shown or (now := self._clock()) < self._next:
            return
        self._next = now + _EVERY_SECONDS
        part = done / total
        left = (now - self._began) * (1 - part) / part if part > 0 else None
        cells = round(part * _WIDTH)
        drawn = f"{'█' * cells}{'·' * (_WIDTH - cells)} {100 * part:3.0f} %"
        line = f"{self._title}  {drawn}  {done:,} of {total:,} {self._unit}"
        self._draw(line if left is None else f"{line}  {_clock_face(left)} left")

    def clear(self) -> None:
        """Take the bar off the terminal."""
        if self._length:
            self._draw("")
            self._stream.write("\r")
            self._stream.flush()

    def _draw(self, line: str) -> None:
        line = line[: shutil.get_terminal_size().columns - 1]
        self._stream.write("\r" + line.ljust(self._length))
        self._stream.flush()
        self._length = len(line)


def _clock_face(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
