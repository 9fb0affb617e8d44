"""A data loader whose waits are seen, and whose batches count steps where the script does not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from stepscope.recorder.books import STALL
from stepscope.recorder.core import Core


class WatchedLoader:
    """Iterates as the loader that it wraps; everything else is asked of that one."""

    def __init__(self, loader: Any, core: Core) -> None:
        self._loader = loader
        self._core = core

    def __iter__(self) -> Iterator[Any]:
        marks = self._core.marks
        # An epoch that was left early ends here at the latest. Starting the workers is waiting for the first batch.
        marks.batches_over()
        self._core.look_for_device()
        marks.batch_asked()
        batches = iter(self._loader)
        marks.beneath(STALL)
        return WatchedBatches(batches, self._core)

    def __len__(self) -> int:
        return len(self._loader)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)


class WatchedBatches:
    """An iterator over batches; everything else is asked of the one that it wraps."""

    def __init__(self, batches: Any, core: Core) -> None:
        self._batches = batches
        self._core = core

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        marks = self._core.marks
        self._core.look_for_device()
        marks.batch_asked()
        queue = queue_of(self._batches)
        if queue is not None:
            self._core.queue = queue
        try:
            batch = next(self._batches)
        except BaseException:
            marks.batches_over()
            raise
        marks.batch_came()
        return batch

    def __getattr__(self, name: str) -> Any:
        return getattr(self._batches, name)


def queue_of(batches: Any) -> tuple[float, float] | None:
    """Batches that are ready and how many can be; None for an iterator without a queue.

    PyTorch has no public view of its queue, so this looks into the iterator and gives up where that has changed.
    """
    try:
        capacity = batches._prefetch_factor * batches._num_workers
        early = sum(len(task) == 2 for task in batches._task_info.values())
        return float(min(capacity, batches._data_queue.qsize() + early)), float(capacity)
    except Exception:  # no such attribute, or a system whose queues have no size
        return None
