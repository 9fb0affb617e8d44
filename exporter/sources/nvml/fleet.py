"""All boards at once, each on a thread of its own, so that one that blocks for ever keeps no other waiting."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from exporter.reading import Gpu
from exporter.sources.nvml.binding import TIMEOUT, UNKNOWN, reason_of
from exporter.sources.nvml.board import Board, Node, Snapshot
from exporter.sources.nvml.session import Opened
from exporter.sources.nvml.worker import Crew, Worker

_log = logging.getLogger("exporter.nvml")


@dataclass(slots=True, eq=False)
class Slot:
    """A board and its thread."""

    board: Board
    worker: Worker[Any]
    gpu: Gpu
    """Who it is, as far as is known."""
    snapshot: Snapshot | None = None
    """The last that it gave."""
    fresh: bool = False
    """Whether it gave that in this cycle."""
    broken: bool = False
    """Whether reading it failed in our own code."""


class Fleet:
    """Boards of one session; for the collector's thread, which asks the driver nothing itself."""

    def __init__(self, crew: Crew, clock: Callable[[], float], max_age_seconds: float) -> None:
        self._crew = crew
        self._clock = clock
        self._max_age = max_age_seconds
        self._workers: list[Worker[Any]] = []
        self._told: set[str] = set()
        """Index of the boards that our code fails to read: said once, not once per session."""
        self.slots: list[Slot] = []

    @property
    def stuck(self) -> bool:
        """Whether a call of an earlier cycle has not come back."""
        return any(worker.busy for worker in self._workers)

    def man(self, opened: Opened, node: Node, xids: Mapping[str, int]) -> None:
        """Make as many boards as there are. A thread that is stuck with an older one comes with what that one said."""
        before = {slot.worker: slot for slot in self.slots}
        while len(self._workers) < opened.count:
            self._workers.append(self._crew.hire(f"gpu-{len(self._workers)}"))
        self.slots = []
        for index, worker in enumerate(self._workers[: opened.count]):
            board = Board(opened.binding, index, node=node, clock=self._clock, xids=xids)
            slot = Slot(board, worker, Gpu(uuid="", index=str(index), labels=(("gpu", str(index)),)))
            if worker.busy and worker in before:
                slot.gpu, slot.snapshot = before[worker].gpu, before[worker].snapshot
            self.slots.append(slot)

    def read(self, until: float) -> None:
        """Read all boards that are not still being read; late ones are not waited for after `until`."""
        asked = []
        for slot in self.slots:
            slot.fresh = False
            if not slot.worker.busy:
                slot.worker.give(partial(_read, slot.board))
                asked.append(slot.worker)
        self.settle(asked, until)

    def settle(self, awaited: Iterable[Worker[Any]] = (), until: float = 0.0) -> None:
        """Take what has been read by now or, of those `awaited`, until then."""
        ended = self._crew.settle(awaited=tuple(awaited), until=until)
        for slot in self.slots:
            if slot.worker in ended:
                self._take(slot, slot.worker.result)

    def results(self) -> Iterator[tuple[Slot, Snapshot | None, int]]:
        """Each slot with what can be said of its board now, or None and NVML's code for why not."""
        now = self._clock()
        for slot in self.slots:
            snapshot = slot.snapshot
            if slot.broken:
                yield slot, None, UNKNOWN
            elif snapshot is None or now - snapshot.taken > self._max_age:
                yield slot, None, TIMEOUT
            elif snapshot.code:
                yield slot, None, snapshot.code
            else:
                yield slot, snapshot, 0

    def dismiss(self, until: float) -> None:
        """Give back what the boards hold, each on its own thread; those that are stuck keep it."""
        closing = [slot for slot in self.slots if not slot.worker.busy]
        for slot in closing:
            slot.worker.give(slot.board.close)
        self._crew.settle(awaited=[slot.worker for slot in closing], until=until)
        self.slots = [slot for slot in self.slots if slot.worker.busy]

    def stop(self) -> None:
        """End the threads that are not stuck."""
        for worker in self._workers:
            if not worker.busy:
                worker.stop()

    def _take(self, slot: Slot, result: object) -> None:
        if isinstance(result, BaseException):
            if slot.gpu.index not in self._told:
                _log.error("GPU %s: reading it failed", slot.gpu.index, exc_info=result)
            self._told.add(slot.gpu.index)
            slot.broken, slot.snapshot = True, None
        elif isinstance(result, tuple) and result[0] is slot.board:  # not that of an earlier session
            self._told.discard(slot.gpu.index)
            slot.broken, slot.snapshot, slot.fresh = False, result[1], True
            slot.gpu = replace(result[1].gpu, reason="")


def _read(board: Board) -> tuple[Board, Snapshot]:
    return board, board.read()


def down(slot: Slot, code: int) -> Gpu:
    """The board of `slot`, which gives nothing."""
    return replace(slot.gpu, reason=reason_of(code))


def standing(slot: Slot, snapshot: Snapshot) -> Gpu:
    """The board of `slot`, which gives this: now, or some time ago while its thread is stuck."""
    return replace(slot.gpu, taken_at=snapshot.taken)
