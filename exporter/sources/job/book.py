"""Who has reported lately: the newest report of each rank of each run, and which report may take another's place.

A run belongs to the user who first reported under its name, for as long as it reports: another user's reports under it
are refused. Neither can a user take more than half of the room, so that a flood of made-up runs leaves room for others.
What has been taken is never given to somebody else while it reports.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from exporter.sources.job.fields import Refused
from exporter.sources.job.report import Report

BOOK_REASONS = ("old", "backwards", "other_user", "too_many_runs", "too_many_ranks")
"""Why a report that is one can be refused for what is known already."""

MAX_AGE_SECONDS = 15.0
"""A rank that has been silent for longer has no series: a gap, not a value that stands still. A recorder reports every
second. The last report of one that was closed is shown for as long, so that a scrape sees the final totals."""

MAX_RUNS = 16
MAX_RANKS = 1024
"""Of this node, over all runs."""


@dataclass(slots=True)
class _Entry:
    report: Report
    arrived: float


@dataclass(frozen=True, slots=True)
class _Run:
    user: int
    ranks: dict[int, _Entry]


class Book:
    """Not safe for use by two threads at a time: its owner has a lock."""

    def __init__(
        self, *, max_age_seconds: float = MAX_AGE_SECONDS, max_runs: int = MAX_RUNS, max_ranks: int = MAX_RANKS
    ) -> None:
        self._max_age = max_age_seconds
        self._max_runs = max_runs
        self._max_ranks = max_ranks
        self._runs: dict[str, _Run] = {}
        self._swept = 0.0

    def add(self, report: Report, *, user: int, now: float) -> None:
        """Put the report in the place of the one before it. `user` is the sender's uid. Refused with the reason."""
        if not self._swept <= now < self._swept + 1.0:
            self._forget(now)
        run = self._runs.get(report.run)
        if run is not None and run.user != user:
            raise Refused("other_user", f"{report.run!r} is a run of user {run.user}, the report is of user {user}")
        entry = run.ranks.get(report.rank) if run is not None else None
        if entry is not None:
            _succeeds(report, entry.report)
        elif run is None:
            self._make_room(user, "too_many_runs", most=self._max_runs, taken=lambda run: 1)
        if entry is None:
            self._make_room(user, "too_many_ranks", most=self._max_ranks, taken=lambda run: len(run.ranks))
        self._runs.setdefault(report.run, run or _Run(user, {})).ranks[report.rank] = _Entry(report, now)

    def reports(self, *, now: float) -> tuple[Report, ...]:
        """The newest report of each rank that is not silent, by run in the order in which they came, then by rank."""
        self._forget(now)
        return tuple(run.ranks[rank].report for run in self._runs.values() for rank in sorted(run.ranks))

    def _forget(self, now: float) -> None:
        self._swept = now
        for run in self._runs.values():
            for rank, entry in list(run.ranks.items()):
                # The clock may have been set back: what came in its future came just now.
                entry.arrived = min(entry.arrived, now)
                if now - entry.arrived > self._max_age:
                    del run.ranks[rank]
        self._runs = {name: run for name, run in self._runs.items() if run.ranks}

    def _make_room(self, user: int, reason: str, *, most: int, taken: Callable[[_Run], int]) -> None:
        """Refused when there is no room for one more, even without runs that are over."""
        share = max(most // 2, 1)
        own = {name: run for name, run in self._runs.items() if run.user == user}
        if not self._evict(own, most=share, taken=taken) or not self._evict(self._runs, most=most, taken=taken):
            raise Refused(reason, f"user {user} can have {share}, all users together {most}")

    def _evict(self, runs: Mapping[str, _Run], *, most: int, taken: Callable[[_Run], int]) -> bool:
        """Whether there is room for one more among `runs`, once those that are over have made way."""
        excess = sum(map(taken, runs.values())) + 1 - most
        for name, run in list(runs.items()):
            if excess > 0 and all(entry.report.final for entry in run.ranks.values()):
                excess -= taken(run)
                del self._runs[name]
        return excess <= 0


def _succeeds(report: Report, last: Report) -> None:
    """Refused unless the report is newer than the last one of the same rank."""
    if report.session != last.session:
        if (report.started, report.session) < (last.started, last.session):
            raise Refused(
                "old",
                f"a later recorder reports for rank {report.rank} of {report.run!r}; two jobs at a time need two names",
            )
        return
    if report.seq <= last.seq:
        raise Refused("old", "a later report of this recorder has come")
    before = dict(last.totals())
    for name, total in report.totals():
        known = before.get(name)
        if known is not None and total is not None and total < known:
            raise Refused("backwards", f"the total of {name} is less than it was")
