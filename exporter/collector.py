"""A source of GPU readings in a thread of its own, one cycle at a time; what goes wrong costs this source alone."""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from exporter.checked import DROP_REASONS, MALFORMED, checked
from exporter.reading import Reading
from exporter.source import Source, SourceError
from exporter.state import STALE, STARTING, State

INTERVAL_SECONDS = 1.0
DEADLINE_SECONDS = 5.0
"""For a cycle, all in all."""
MAX_AGE_SECONDS = 10.0
"""How old a reading may be that is shown."""
LONGEST_PAUSE_SECONDS = 60.0

HUNG, CRASHED = "hung", "crashed"
ERROR_REASONS = (HUNG, CRASHED)
"""Reasons that any source may have beside its own: a cycle passed its deadline; it raised what no source may raise."""
RUNNING, BACKING_OFF = "running", "backoff"
SKIP_REASONS = (RUNNING, BACKING_OFF)
"""Why a cycle that was due did not begin: the one before was still running; the source had failed."""

_log = logging.getLogger(__name__)


def pause_seconds(failures: int) -> float:
    """How long a source is left alone after so many failures in a row for one reason: 1, 2, 4 … 60 s."""
    return min(LONGEST_PAUSE_SECONDS, 2.0 ** min(failures - 1, 10))


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How often a source is asked, and how long its answer lasts; seconds."""

    interval: float = INTERVAL_SECONDS
    deadline: float = DEADLINE_SECONDS
    max_age: float = MAX_AGE_SECONDS


class Collector:
    """Runs the cycles of one source. `state` may be called from any thread and never waits for a cycle."""

    def __init__(
        self,
        source: Source,
        *,
        pace: Pace | None = None,
        clock: Callable[[], float] = time.monotonic,
        wall: Callable[[], float] = time.time,
        quiet: bool = False,
    ) -> None:
        """`clock` is monotonic, `wall` gives Unix time.

        `quiet`: nobody asked for this source, so that it cannot be had is no news.
        """
        self.name = source.name
        self._source = source
        self._pace = pace or Pace()
        self._clock = clock
        self._wall = wall
        self._quiet = quiet
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._errors = dict.fromkeys((*source.error_reasons, *ERROR_REASONS), 0)
        self._dropped = dict.fromkeys((*source.drop_reasons, *DROP_REASONS), 0)
        self._skipped = dict.fromkeys(SKIP_REASONS, 0)
        self._running_since: float | None = None
        self._idle_since = clock()
        self._last: Reading | None = None
        self._taken_at = -math.inf
        self._failures = self._alike = 0
        """Cycles failed in a row, and those for the same reason."""
        self._reason, self._detail = STARTING, "has not finished a cycle yet"
        self._collect_seconds = 0.0
        self._last_success = 0.0
        self._told: tuple[object, ...] = ()

    def start(self) -> None:
        """Begin to collect, in a thread that never keeps the process from ending."""
        self._thread = threading.Thread(target=self._run, name=f"collect-{self.name}", daemon=True)
        self._thread.start()

    def stop(self, *, timeout: float) -> bool:
        """End it and close the source; False when a cycle hangs, which is then left behind."""
        self._stop.set()
        if self._thread is None:
            return True
        self._thread.join(timeout)
        return not self._thread.is_alive()

    def cycle(self) -> float:
        """One cycle, in this thread; seconds until the next is due. Never raises."""
        started = self._begin()
        try:
            reading = checked(self._source.collect(started + self._pace.deadline))
        except SourceError as error:
            known = error.reason in self._errors
            pause = self._failed(started, error.reason if known else CRASHED, error.detail)
        except BaseException as error:
            pause = self._failed(started, CRASHED, f"{type(error).__name__}: {error}")
        else:
            pause = self._succeeded(started, reading)
        self._tell()
        return pause

    def has_reading(self) -> bool:
        """Whether there is a reading that may be shown now."""
        with self._lock:
            return self._is_fresh(self._clock())

    def state(self) -> State:
        """What is known now."""
        with self._lock:
            now = self._clock()
            fresh = self._is_fresh(now)
            running = now - self._running_since if self._running_since is not None else 0.0
            overdue = int(running / self._pace.deadline)
            reason, detail = self._reason, self._detail
            if overdue:
                reason, detail = HUNG, f"a cycle has been running for more than {overdue * self._pace.deadline:g} s"
            elif not reason and not fresh:
                reason, detail = STALE, "its last reading is too old to be shown"
            return State(
                source=self.name,
                up=not reason,
                reason=reason,
                detail=detail,
                reading=self._last.without_older(now - self._pace.max_age, reason=STALE)
                if fresh and self._last
                else None,
                last=self._last,
                failures=self._failures + overdue,
                errors={**self._errors, HUNG: self._errors[HUNG] + bool(overdue)},
                dropped=dict(self._dropped),
                skipped=self._skips(now),
                collect_seconds=self._collect_seconds,
                last_success=self._last_success,
            )

    def _run(self) -> None:
        while not self._stop.is_set():
            self._stop.wait(self.cycle())
        with suppress(BaseException):
            self._source.close()

    def _begin(self) -> float:
        with self._lock:
            now = self._clock()
            self._skipped = self._skips(now)
            self._running_since = now
            return now

    def _end(self, started: float) -> None:
        """Under the lock: what any end of a cycle does."""
        now = self._clock()
        self._skipped = self._skips(now)
        self._errors[HUNG] += now - started >= self._pace.deadline
        self._collect_seconds = now - started
        self._running_since, self._idle_since = None, now

    def _failed(self, started: float, reason: str, detail: str) -> float:
        with self._lock:
            self._end(started)
            self._failures += 1
            # Something has changed when the reason does, and the next change may be that it works.
            self._alike = self._alike + 1 if reason == self._reason else 1
            self._errors[reason] += 1
            self._reason, self._detail = reason, " ".join(detail.split())
            return pause_seconds(self._alike)

    def _succeeded(self, started: float, reading: Reading) -> float:
        with self._lock:
            self._end(started)
            # Values may have been read at any time since the cycle began: their age counts from there.
            self._last, self._taken_at = reading, started
            self._failures, self._reason, self._detail = 0, "", ""
            self._last_success = self._wall()
            for reason, count in reading.errors.items():
                self._errors[reason if reason in self._errors else CRASHED] += count
            for reason, count in reading.dropped.items():
                self._dropped[reason if reason in self._dropped else MALFORMED] += count
            return max(0.0, started + self._pace.interval - self._idle_since)

    def _shown(self, now: float) -> Reading | None:
        """What may be shown now of the last good reading."""
        if self._last is None or not self._is_fresh(now):
            return None
        return self._last.without_older(now - self._pace.max_age, reason=STALE)

    def _is_fresh(self, now: float) -> bool:
        return self._last is not None and now - self._taken_at <= self._pace.max_age

    def _skips(self, now: float) -> dict[str, int]:
        """Counts up to now, what is under way included."""
        reason, since = RUNNING, self._running_since
        if since is None:
            reason, since = BACKING_OFF, self._idle_since
            if not self._failures:
                return dict(self._skipped)
        missed = max(0, math.ceil((now - since) / self._pace.interval - 1e-6) - 1)
        return {**self._skipped, reason: self._skipped[reason] + missed}

    def _tell(self) -> None:
        """Into the log, when something has changed."""
        state = self.state()
        news = (state.reason, state.present, state.expected) if not state.reason else (state.reason,)
        if news == self._told:
            return
        before, self._told = self._told, news
        if state.reason:
            level = logging.DEBUG if self._quiet and state.last is None else logging.WARNING
            _log.log(level, "%s is down (%s): %s; it is tried again", self.name, state.reason, state.detail)
        elif before or state.expected or not self._quiet:
            _log.info("%s is up: %d of %d GPUs", self.name, state.present, state.expected)
