"""Dry runs away from everything else: a few at once, on threads of their own, and no queue."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

from anyio import CapacityLimiter, to_thread

from stepscope.api.problems import ProblemError

MOST_AT_ONCE = 2
"""Each takes one core for some seconds at worst; the engine has a second to keep."""

T = TypeVar("T")


class DryRuns:
    """Runs predictions beside the routes, which keep the threads that they share among themselves."""

    def __init__(self, most: int = MOST_AT_ONCE) -> None:
        self._most = most
        self._turns = threading.BoundedSemaphore(most)

    async def run(self, work: Callable[[], T]) -> T:
        """What `work` returns or raises; 503 at once when too many run already."""
        if not self._turns.acquire(blocking=False):
            busy = f"At most {self._most} dry runs go on at once; come back in a few seconds."
            raise ProblemError(503, "dry-runs-busy", busy, headers={"Retry-After": "5"})
        begun = False

        def turn() -> T:
            nonlocal begun
            begun = True
            try:
                return work()
            finally:
                self._turns.release()

        try:
            # A limiter of its own: no scrape or reset waits for this thread. A lab that stops does not either.
            return await to_thread.run_sync(turn, limiter=CapacityLimiter(1), abandon_on_cancel=True)
        finally:
            if not begun:
                self._turns.release()
