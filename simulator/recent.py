"""The last minutes of a run as scrapes would have caught it: whole ticks, a few seconds apart, bounded in memory."""

from __future__ import annotations

from collections import deque

from simulator.observation import Tick

RECENT_SECONDS = 900
_MOST_BYTES = 64 * 2**20
_BYTES_PER_RANK = 500
"""What a tick holds of each rank: about sixty numbers."""
_LARGE_RANKS = 1_024
_LEAST_TICKS = 6


class RecentTicks:
    """Ticks of the present run, oldest first. One writer; readers take a copy."""

    def __init__(self) -> None:
        self._ticks: deque[Tick] = deque()

    def add(self, tick: Tick) -> None:
        """Keep the tick if it is due, and forget what is too old or too much."""
        spacing = 5 if tick.info.ranks <= _LARGE_RANKS else 15
        if tick.index % spacing:
            return
        self._ticks.append(tick)
        afford = max(_LEAST_TICKS, _MOST_BYTES // (_BYTES_PER_RANK * tick.info.ranks))
        while len(self._ticks) > min(afford, RECENT_SECONDS // spacing + 1):
            self._ticks.popleft()

    def clear(self) -> None:
        """A new run begins."""
        self._ticks.clear()

    def ticks(self) -> list[Tick]:
        """All of them."""
        return list(self._ticks)
