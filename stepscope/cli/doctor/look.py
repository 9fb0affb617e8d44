"""A look at something that may hang: a driver, a server, a program."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Generic, TypeVar

from stepscope.cli.doctor.check import Unknown

T = TypeVar("T")


class Look(Generic[T]):
    """Calls `see` on a thread of its own, at once."""

    def __init__(self, see: Callable[[], T]) -> None:
        self._see = see
        self._seen: T | Unknown = Unknown("it takes too long")
        # A daemon, so that one that hangs does not keep the program from ending.
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def until(self, deadline: float) -> T | Unknown:
        """What was seen by then, in seconds of the monotonic clock; why not, when nothing was."""
        self._thread.join(max(0.0, deadline - time.monotonic()))
        return self._seen

    def _run(self) -> None:
        try:
            self._seen = self._see()
        except Exception as error:
            self._seen = Unknown(" ".join(f"{type(error).__name__}: {error}".split()))
