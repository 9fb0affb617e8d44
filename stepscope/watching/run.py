"""The series of one run around one moment, from a Prometheus."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from diagnosis import answers
from diagnosis import thresholds as limit
from diagnosis.engine import better_times
from diagnosis.series import Series
from stepscope.watching.prometheus import Prometheus, without_collector

HISTORY_SECONDS = 900.0
"""How far back the job's better times are looked for, as the recording rules do."""
MOST_POINTS = 11_000
"""What Prometheus answers per series at most."""


@dataclass(frozen=True, slots=True)
class Asked:
    """Which stretch of which run."""

    run: str
    at: float
    """Unix seconds."""
    window_seconds: float
    step_seconds: float
    """Between two points of the grid: the scrape interval."""


def series(prometheus: Prometheus, asked: Asked) -> Series:
    """The window and the better one before it in full, the run's own series for all of the history.

    Ranks are asked for where they are looked at only: fifteen minutes of a large job are more than they are worth.
    PrometheusError when it does not answer, ValueError for a run that it does not know.
    """
    with without_collector():
        return _series(prometheus, asked)


def _series(prometheus: Prometheus, asked: Asked) -> Series:
    grid = _grid(asked)
    start, end, step = float(grid[0]), float(grid[-1]), asked.step_seconds
    found = answers.Answers(asked.run, grid)
    members = answers.member_query(asked.run)
    # The last five minutes: a node that is gone still belongs to the run.
    known_since = max(start, end - max(300.0, asked.window_seconds))
    found.add_members(prometheus.matrix(members, start=known_since, end=end, step=step))
    found.add(prometheus.matrix(answers.run_query(asked.run), start=start, end=end, step=step))
    better = better_times(found.series(), window_seconds=asked.window_seconds)
    long = limit.LONG_WINDOWS * asked.window_seconds
    found.add(prometheus.matrix(answers.up_query(asked.run), start=max(start, end - long), end=end, step=step))
    for query in answers.queries(asked.run):
        found.add(prometheus.matrix(query, start=max(start, end - asked.window_seconds), end=end, step=step))
    if better is not None:
        # All of its points: of a young run, a stretch may begin before there was anything to see.
        for query in answers.queries(asked.run, earlier=True):
            found.add(prometheus.matrix(query, start=better[0], end=better[1], step=step))
    return found.series()


def runs(prometheus: Prometheus, *, at: float) -> list[str]:
    """Runs that had ranks at that moment."""
    rows = prometheus.vector("group by (run) (training_rank_info)", at=at)
    return sorted(str(row.get("metric", {}).get("run", "")) for row in rows)


def _grid(asked: Asked) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    points = min(MOST_POINTS, int((HISTORY_SECONDS + asked.window_seconds) / asked.step_seconds) + 1)
    return asked.at - asked.step_seconds * np.arange(points - 1, -1, -1, dtype=np.float64)
