"""Which boards there are: on one page, and over the pages of a node."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from exporter.catalogue import GPU_LABELS, HOSTNAME
from exporter.reading import Gpu
from exporter.sources.dcgm.labels import Place

GPU_LOST = "gpu_lost"
"""Why a GPU that was there before is not up: the page no longer names it."""
NO_VALUES = "no_values"
"""Why a GPU that the page names is not up: none of its values was believed."""

FORGET_AFTER_SECONDS = 86_400.0
"""A board that has been away for a day is not expected any more. So is none after a restart: the roster is memory."""
MAX_BOARDS = 1_024
"""Boards that are remembered; beyond, those longest away are forgotten first."""


class Boards:
    """The boards that one page names. A UUID is an identity; an index only stands in for one that is missing."""

    def __init__(self, places: Iterable[Place], *, hostname_label: str) -> None:
        """`places`: all label sets of the page."""
        self._names = tuple(hostname_label if name == HOSTNAME else name for name in GPU_LABELS)
        self._uuids: dict[str, str] = {}
        self._labels: dict[str, dict[str, str]] = {}
        self._believed: set[str] = set()
        distinct = list(places)
        for where in distinct:
            if where.uuid and where.index:
                self._uuids.setdefault(where.index, where.uuid)
        for where in distinct:
            if key := self.key(where):
                labels = self._labels.setdefault(key, {})
                for name, value in where.labels:
                    if name in self._names:
                        labels.setdefault(name, value)

    def key(self, where: Place) -> str:
        """`Gpu.key` of the board at `where`; empty where there is none."""
        uuid = where.uuid or self._uuids.get(where.index, "")
        return uuid or (f"index {where.index}" if where.index else "")

    def believe(self, key: str) -> None:
        """A value of this board was believed."""
        self._believed.add(key)

    def gpus(self) -> dict[str, Gpu]:
        """All of them, in the order of the page, by key."""
        return {key: self._gpu(key, labels) for key, labels in self._labels.items()}

    def _gpu(self, key: str, labels: Mapping[str, str]) -> Gpu:
        return Gpu(
            uuid=labels.get("UUID", ""),
            index=labels.get("gpu", ""),
            labels=tuple((name, labels[name]) for name in self._names if name in labels),
            reason="" if key in self._believed else NO_VALUES,
        )


class Roster:
    """Every board seen so far, so that one that is gone can be told from one that never was."""

    def __init__(self, *, clock: Callable[[], float]) -> None:
        """`clock` gives seconds."""
        self._clock = clock
        self._seen: dict[str, tuple[float, Gpu]] = {}

    def update(self, present: Mapping[str, Gpu], *, missing: str = GPU_LOST) -> tuple[Gpu, ...]:
        """`present` and, with the reason `missing`, all that were present before and are not forgotten."""
        now = self._clock()
        for key, gpu in present.items():
            self._seen.pop(key, None)
            self._seen[key] = (now, gpu)
        for key in list(self._seen)[:-MAX_BOARDS]:
            del self._seen[key]
        self._seen = {key: item for key, item in self._seen.items() if now - item[0] < FORGET_AFTER_SECONDS}
        gone = [replace(gpu, reason=missing) for key, (_, gpu) in self._seen.items() if key not in present]
        return (*list(present.values())[:MAX_BOARDS], *gone)
