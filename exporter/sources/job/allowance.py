"""How many datagrams of each user are looked at: what is beyond costs no more than reading it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

_USERS = 64
_THE_OTHERS = -1


@dataclass(slots=True)
class _Purse:
    left: float
    at: float


class Allowance:
    """So many a second for each user, and as many at once after a quiet second.

    Users beyond the 64th share one allowance, so that who has many uids gains nothing and fills no memory.
    """

    def __init__(self, per_second: float, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate = per_second
        self._clock = clock
        self._purses: dict[int, _Purse] = {}

    def spend(self, user: int) -> bool:
        """Whether the user had one left."""
        now = self._clock()
        purse = self._purse(user, now)
        purse.left = min(self._rate, purse.left + self._rate * (now - purse.at))
        purse.at = now
        if purse.left < 1.0:
            return False
        purse.left -= 1.0
        return True

    def _purse(self, user: int, now: float) -> _Purse:
        purse = self._purses.get(user)
        if purse is None:
            if len(self._purses) >= _USERS:
                # After a second without a datagram a purse is full: it tells nothing.
                self._purses = {other: kept for other, kept in self._purses.items() if now - kept.at < 1.0}
            if len(self._purses) >= _USERS:
                user = _THE_OTHERS
            purse = self._purses.setdefault(user, _Purse(self._rate, now))
        return purse
