"""The sources of a real node, run together."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from exporter.account import Account
from exporter.choice import Choice, Chooser
from exporter.collector import CRASHED, Collector
from exporter.job_view import JobView
from exporter.merge import Merged, boards, merge
from exporter.reading import Gpu, Reading
from exporter.render import Format
from exporter.state import STARTING, State

JOB = "job"
"""Value of the label `source` of training jobs."""
STOP_SECONDS = 1.0
"""What running cycles get to finish in, all together, when the node stops."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class JobState:
    """The job source at one moment, whatever it did when it was asked."""

    up: bool
    detail: str
    errors: dict[str, int]
    dropped: dict[str, int]
    heard_at: float
    """Unix time of the last good report; 0 before."""
    last_success: float
    """Unix time at which recorders could last report; 0 before. A node without a job is well."""
    runs: int


@dataclass(frozen=True, slots=True)
class Moment:
    """All sources at one moment."""

    states: tuple[State, ...]
    choices: tuple[Choice, ...]
    """One per source of `states`, then that of the job source where there is one."""
    merged: Merged
    job: JobState | None

    @property
    def chosen(self) -> tuple[State, ...]:
        """Sources of GPU readings that are used."""
        return tuple(state for state, choice in zip(self.states, self.choices, strict=False) if choice.chosen)


class Node:
    """Collectors, the choice between them, and the source of training jobs. Methods may be called from any thread."""

    def __init__(
        self,
        collectors: Sequence[Collector],
        chooser: Chooser,
        job: JobView | None = None,
        *,
        wall: Callable[[], float] = time.time,
    ) -> None:
        """`wall` gives Unix time."""
        self._collectors = tuple(collectors)
        self._accounts = tuple(Account() for _ in collectors)
        self._chooser = chooser
        self._wall = wall
        self._job = job
        self._lock = threading.Lock()
        self._job_crashes = 0
        self._job_counts: tuple[dict[str, int], dict[str, int], float, int] | None = None
        self._job_up_at = 0.0

    def attach(self, job: JobView) -> None:
        """Add the source of training jobs, which itself asks this node for its GPUs."""
        self._job = job

    def start(self) -> None:
        """Begin to collect and to listen."""
        for collector in self._collectors:
            collector.start()
        if self._job is not None:
            try:
                self._job.start()
            except Exception as error:
                self._crashed("start", error)

    def stop(self) -> bool:
        """End everything; False when a cycle hangs in a call that does not return."""
        if self._job is not None:
            try:
                self._job.close()
            except Exception as error:
                self._crashed("close", error)
        share = STOP_SECONDS / max(1, len(self._collectors))
        ended = [collector.stop(timeout=share) for collector in self._collectors]
        return all(ended)

    def now(self) -> Moment:
        """All sources, and the choice between them, now."""
        states, choices = self._choose()
        if self._job is not None:
            choices += (Choice(JOB, True, "always", "used: training jobs report by themselves"),)
        return Moment(states, choices, merge(*_shown(states)), self._job_state())

    def gpus(self) -> Sequence[Gpu]:
        """The boards of this node, to join ranks with."""
        return boards(*_shown([collector.state() for collector in self._collectors]))

    def shown(self) -> tuple[bool, ...]:
        """Which sources have a reading that may be shown: when this changes, a page must be made anew."""
        return tuple(collector.has_reading() for collector in self._collectors)

    def job_text(self, format_: Format) -> list[str]:
        """Families of nodes and runs; none when the job source fails."""
        if self._job is None:
            return []
        try:
            return list(self._job.families(format_))
        except Exception as error:
            self._crashed("families", error)
            return []

    def look(self, *, failures: int = 0) -> str:
        """Reconsider which sources are used; the one of them that has failed this often in a row, or empty.

        Under `auto` one that has never worked does not count: a new process would not find it either.
        """
        states, choices = self._choose()
        for state, choice in zip(states, choices, strict=True):
            counts = choice.chosen and (state.last is not None or self._chooser.asked(state.source))
            if counts and 0 < failures <= state.failures:
                return state.source
        return ""

    def readiness(self) -> tuple[bool, dict[str, str]]:
        """Whether there is anything to show, and how each used source is."""
        moment = self.now()
        used = moment.chosen
        parts = {state.source: _words(state) for state in used}
        starting = {state.source for state in moment.states if state.reason == STARTING and state.last is None}
        ready = any(state.reading is not None for state in used)
        if moment.job is not None:
            parts[JOB] = "ok" if moment.job.up else moment.job.detail
            # Without any GPU to wait for, that jobs can report is all there is to be.
            ready = ready or (moment.job.up and (bool(moment.job.runs) or not (used or starting)))
        if not ready:
            parts |= dict.fromkeys(starting, "has not finished a cycle yet")
        return ready, parts

    def _choose(self) -> tuple[tuple[State, ...], tuple[Choice, ...]]:
        with self._lock:
            states = tuple(collector.state() for collector in self._collectors)
            choices = self._chooser.choose(states)
            settled = (
                account.settle(state, used=choice.chosen)
                for account, state, choice in zip(self._accounts, states, choices, strict=True)
            )
            return tuple(settled), choices

    def _job_state(self) -> JobState | None:
        if self._job is None:
            return None
        try:
            status = self._job.status()
            up, detail = status.up, status.detail
            self._job_up_at = self._wall() if up else self._job_up_at
            self._job_counts = (
                {**dict.fromkeys(self._job.error_reasons, 0), **status.errors},
                {**dict.fromkeys(self._job.drop_reasons, 0), **status.dropped},
                status.last_success,
                status.runs,
            )
        except Exception as error:
            self._crashed("status", error)
            up, detail = False, "does not answer"
        # What was counted stays counted while it does not answer.
        errors, dropped, heard_at, runs = self._job_counts or (
            dict.fromkeys(self._job.error_reasons, 0), dict.fromkeys(self._job.drop_reasons, 0), 0.0, 0,
        )  # fmt: skip
        errors = {**errors, CRASHED: self._job_crashes}
        return JobState(up, detail, errors, dropped, heard_at, self._job_up_at, runs if up else 0)

    def _crashed(self, what: str, error: Exception) -> None:
        self._job_crashes += 1
        if self._job_crashes == 1:
            _log.error("job: %s failed: %s: %s", what, type(error).__name__, error)


def _shown(states: Sequence[State]) -> tuple[dict[str, Reading], list[Gpu]]:
    """Readings that may be shown, by source, and the boards of sources that have none."""
    readings = {state.source: state.reading for state in states if state.reading is not None}
    return readings, [gpu for state in states if state.reading is None for gpu in state.gpus]


def _words(state: State) -> str:
    return "ok" if state.up else state.detail
