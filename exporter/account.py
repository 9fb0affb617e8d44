"""What went wrong with a source while it was used: looking for one that is not there is no fault."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from exporter.state import State

_COUNTS = ("errors", "dropped", "skipped")


class Account:
    """The counts of one source, without those from when it was not used. They never go back."""

    def __init__(self) -> None:
        self._seen: dict[tuple[str, str], int] = {}
        self._unused: dict[tuple[str, str], int] = {}

    def settle(self, state: State, *, used: bool) -> State:
        """`state` with the counts that are to be shown; what came since the last call belongs to `used`."""
        shown: dict[str, dict[str, int]] = {}
        for kind in _COUNTS:
            counts: Mapping[str, int] = getattr(state, kind)
            shown[kind] = {reason: self._count((kind, reason), count, used=used) for reason, count in counts.items()}
        return replace(state, errors=shown["errors"], dropped=shown["dropped"], skipped=shown["skipped"])

    def _count(self, key: tuple[str, str], count: int, *, used: bool) -> int:
        if not used:
            self._unused[key] = self._unused.get(key, 0) + count - self._seen.get(key, 0)
        self._seen[key] = count
        return count - self._unused.get(key, 0)
