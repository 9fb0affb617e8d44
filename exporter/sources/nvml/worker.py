"""Threads that may be left behind: a driver call can block for ever, and nothing can end it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection
from queue import Empty, SimpleQueue
from typing import Any, Generic, TypeVar

T = TypeVar("T")
Task = Callable[[], T]


class Worker(Generic[T]):
    """One daemon thread that does one task at a time; what a task returns or raises is in `result` afterwards.

    All methods are for the one thread that gives the tasks. A worker whose task never returns stays busy and costs one
    sleeping thread; the process ends without it.
    """

    def __init__(self, name: str, done: SimpleQueue[Worker[Any]]) -> None:
        """`done` gets the worker each time that a task has ended; it is to be told so by `settle`."""
        self._name = name
        self._tasks: SimpleQueue[Task[T] | None] = SimpleQueue()
        self._done = done
        self._started = False
        self.busy = False
        """From `give` until `settle`."""
        self.result: T | BaseException | None = None
        """Of the last task that ended; None before."""

    def give(self, task: Task[T]) -> None:
        """Have `task` done. The worker must not be busy."""
        assert not self.busy, self._name
        self.busy = True
        if not self._started:
            threading.Thread(target=self._work, name=self._name, daemon=True).start()
            self._started = True
        self._tasks.put(task)

    def settle(self) -> None:
        """The task has ended and its result been seen: another one may come."""
        self.busy = False

    def stop(self) -> None:
        """End the thread, as soon as its task does."""
        if self._started:
            self._tasks.put(None)
            self._started = False

    def _work(self) -> None:
        while (task := self._tasks.get()) is not None:
            try:
                self.result = task()
            except BaseException as error:  # whatever a driver or a binding can think of ends here
                self.result = error
            del task
            self._done.put(self)


class Crew:
    """The workers of one source, and the queue in which they say that they are done."""

    def __init__(self, name: str, clock: Callable[[], float]) -> None:
        self._name = name
        self._clock = clock
        self._done: SimpleQueue[Worker[Any]] = SimpleQueue()

    def hire(self, name: str) -> Worker[Any]:
        """One more worker, idle; its thread starts with its first task."""
        return Worker(f"{self._name}-{name}", self._done)

    def settle(self, *, awaited: Collection[Worker[Any]] = (), until: float = 0.0) -> set[Worker[Any]]:
        """Workers that have ended a task by now or, when some are `awaited`, by `until` at the latest."""
        ended: set[Worker[Any]] = set()
        waiting = {worker for worker in awaited if worker.busy}
        while True:
            try:
                patience = until - self._clock() if waiting else 0.0
                worker = self._done.get(timeout=patience) if patience > 0 else self._done.get_nowait()
            except Empty:
                return ended
            worker.settle()
            ended.add(worker)
            waiting.discard(worker)
