"""Faults that have ended, as many as are worth keeping, and the mere names of those before them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from faults.record import FaultRecord

MAX_NAMES = 4096
"""Names remembered at most of faults that ended too long ago to be kept."""


class Archive:
    """Ended faults in the order in which they ended; the oldest make room for new ones."""

    def __init__(self, size: int) -> None:
        assert size >= 1, "the fault that ended last is always kept"
        self._size = size
        self._kept: dict[str, FaultRecord] = {}
        self._names: dict[str, None] = {}

    @property
    def records(self) -> Mapping[str, FaultRecord]:
        """Those that are kept, by name."""
        return MappingProxyType(self._kept)

    def __contains__(self, name: str) -> bool:
        return name in self._kept or name in self._names

    def find(self, name: str) -> FaultRecord | None:
        """The fault of that name; None when only the name is left of it. KeyError for a name never seen."""
        return None if name in self._names else self._kept[name]

    def add(self, record: FaultRecord) -> None:
        """Keep a fault that has ended."""
        self._kept[record.name] = record
        while len(self._kept) > self._size:
            oldest = next(iter(self._kept))
            del self._kept[oldest]
            self._names[oldest] = None
        while len(self._names) > MAX_NAMES:
            del self._names[next(iter(self._names))]

    def drop(self, name: str) -> None:
        """Forget that a fault of that name has ended: there is a new one."""
        self._kept.pop(name, None)
        self._names.pop(name, None)
