"""How fast somebody may ask: a bucket that fills by and by."""

from __future__ import annotations


class Bucket:
    """Holds `size` requests and gains `per_second`. Not thread-safe: its owner holds a lock."""

    def __init__(self, *, size: int, per_second: float, at_seconds: float) -> None:
        self._size = size
        self._per_second = per_second
        self._left = float(size)
        self._at = at_seconds

    def take(self, at_seconds: float) -> float:
        """Take one; 0 when there was one, else the seconds until there is."""
        self._left = min(self._size, self._left + (at_seconds - self._at) * self._per_second)
        self._at = at_seconds
        if self._left < 1.0:
            return (1.0 - self._left) / self._per_second
        self._left -= 1.0
        return 0.0
