"""Signals that ask to stop, kept until they suit: half an undoing would leave the stack broken."""

from __future__ import annotations

import os
import select
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interrupt:
    """Which signal came first, if any."""

    def __init__(self) -> None:
        self.signal: int | None = None
        # A pipe and not an Event: a handler runs in the thread that waits, which may hold the Event's lock just then.
        self._read, self._write = os.pipe()

    def wait(self, seconds: float) -> bool:
        """Wait so long, or until a signal comes; whether one has come."""
        ready, _, _ = select.select([self._read], [], [], seconds)
        return bool(ready)

    def note(self, number: int, _: FrameType | None = None) -> None:
        """Take a signal."""
        if self.signal is None:
            self.signal = number
            os.write(self._write, b"!")

    def close(self) -> None:
        """Let go of the pipe."""
        os.close(self._read)
        os.close(self._write)


@contextmanager
def interruptible() -> Iterator[Interrupt]:
    """Until the block ends signals go to the Interrupt, and none raises; those that are ignored stay ignored."""
    interrupt = Interrupt()
    heard = [number for number in SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]
    before = {number: signal.signal(number, interrupt.note) for number in heard}
    try:
        yield interrupt
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        interrupt.close()
