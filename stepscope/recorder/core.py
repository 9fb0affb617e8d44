"""The parts of a recorder, put together, and the thread that reports them."""

from __future__ import annotations

import os
import secrets
import threading
import time
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from stepscope.recorder.books import Books
from stepscope.recorder.busy import Busy
from stepscope.recorder.device import DeviceTimeline
from stepscope.recorder.gpu import device_claim, environment_claim
from stepscope.recorder.learned import Learned
from stepscope.recorder.marks import Marks
from stepscope.recorder.post import INTERVAL_SECONDS, Post, Postman
from stepscope.recorder.report import Reports
from stepscope.recorder.settings import Settings
from stepscope.recorder.timeline import Clock, HostTimeline, loaded_cuda
from stepscope.recorder.trouble import Trouble

_LOOKS = 3
"""Steps at whose beginning is looked for a GPU: a script that uses one has touched it by then."""
_UNHEARD_BEATS = 10
"""Reports in a row that nobody could be given before somebody is told: an exporter that starts anew takes less."""
_CLOSING_SECONDS = 0.5
"""For a device to reach its last marks when the recorder is closed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ways:
    """How a recorder reaches the world; another one in tests."""

    clock: Clock = time.perf_counter
    unix: Clock = time.time
    sleep: Callable[[float], None] = time.sleep
    interval: float = INTERVAL_SECONDS


class Core:
    """Everything that a recorder does between what the script says and what is sent."""

    def __init__(self, settings: Settings, paths: Sequence[str], ways: Ways, *, device: bool | None) -> None:
        """`device` says whether phases are timed by CUDA events; None: when the script uses CUDA."""
        self.trouble = Trouble()
        self.settings = settings
        self._ways = ways
        self.books = Books(ways.clock(), flops_per_token=settings.flops_per_token)
        self.learned = Learned(self.trouble)
        self.busy = Busy(ways.clock)
        self.marks = Marks(
            self.books,
            HostTimeline(self.books, ways.clock),
            tokens=settings.tokens_per_step,
            samples=settings.samples_per_step or 0,
        )
        self.watched: weakref.WeakSet[Any] = weakref.WeakSet()
        """Models and optimizers that have hooks: a second set would count twice."""
        self.queue: tuple[float, float] | None = None
        self._gpu = environment_claim(settings)
        self._device = device
        self._looks = _LOOKS
        self._reports = Reports(settings, session=secrets.token_hex(8), started_unix=ways.unix())
        self._paths = tuple(paths)
        self._post = Post(paths, self.trouble)
        self._unheard = 0
        self._closing = threading.RLock()
        _living.add(self)
        self._postman = Postman(self.beat, interval=ways.interval, trouble=self.trouble)

    @property
    def device(self) -> DeviceTimeline | None:
        """The timeline of the device, where there is one."""
        timeline = self.marks.timeline
        return timeline if isinstance(timeline, DeviceTimeline) else None

    def look_for_device(self) -> None:
        """Time by the device from now on if the script uses one; called between steps, in the thread that trains."""
        if not self._looks or self.marks.closed:
            return
        self._looks -= 1
        torch = loaded_cuda()
        if torch is None:
            return
        self._looks = 0
        try:
            self._gpu.update(device_claim(torch))
        except Exception as error:
            self.trouble.note("asking for the GPU's name", error)
        if self._device is not False:
            self.marks.timeline = DeviceTimeline(self.books, self._ways.clock, torch=torch, trouble=self.trouble)

    def beat(self) -> None:
        """Learn what has become known, and report it if somebody listens."""
        self._settle()
        if self._post.connected():
            self._unheard = 0
            self._post.send(self._report(final=False))
            return
        self._unheard += 1
        if self._unheard >= _UNHEARD_BEATS and self.settings.local_rank == 0:
            places = " or ".join(self._paths)
            self.trouble.say(
                "listener",
                f"nobody listens at {places}: nothing is reported until `stepscope export` runs on this node",
            )

    def log(self, values: dict[str, object]) -> None:
        """Values of the step that is open, or of the last one."""
        if not self.marks.closed:
            with self.books.lock:
                self.learned.log(self.marks.steps, values)

    def close(self) -> None:
        """The last report, and silence. Never raises: a training that has ended well must not fail here."""
        with self._closing:
            if self.marks.closed:
                return
            try:
                self.marks.batches_over()
            finally:
                self.marks.closed = True
        self._postman.stop()
        try:
            self._say_farewell()
        except Exception as error:
            self.trouble.note("the last report", error)
        finally:
            self._post.close()
        _living.discard(self)

    def _say_farewell(self) -> None:
        deadline = self._ways.clock() + _CLOSING_SECONDS
        while not self._settle() and self._ways.clock() < deadline:
            self._ways.sleep(0.01)
        if self._post.connected():
            self._post.send(self._report(final=True), patient=True)

    def _settle(self) -> bool:
        settled = self.marks.timeline.settle(now=self._ways.clock())
        settled &= self.busy.settle()
        with self.books.lock:
            return self.learned.settle() and settled

    def _report(self, *, final: bool) -> bytes:
        with self.books.lock:
            return self._reports.make(
                self.books,
                self.learned,
                now=self._ways.clock(),
                unix=self._ways.unix(),
                final=final,
                gpu=self._gpu,
                collective=self.busy.totals(),
                queue=self.queue,
            )

    def forked(self) -> None:
        """In a child of fork(): the recorder is the parent's. Locks may be held by threads that are not here."""
        self.marks.closed = True
        self.books.lock = threading.RLock()
        self.busy.lock = threading.RLock()
        self._closing = threading.RLock()
        self._post.close()


_living: weakref.WeakSet[Core] = weakref.WeakSet()


def _after_fork() -> None:
    for core in list(_living):
        core.forked()
    _living.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
