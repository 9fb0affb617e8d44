"""Exporter and job are killed and started again, in either order: gaps, and never a number that is not true."""

from __future__ import annotations

import itertools
import math
import time
from collections import Counter

import pytest

from exporter.sources.job.book import MAX_AGE_SECONDS
from tests.stack.real import eventually
from tests.stack.real_job import RANKS, Exporter, Job, need_torch, running_job, scraping
from tests.stack.servers import Prometheus

pytestmark = pytest.mark.stack

RUN = "life"
LATE_SECONDS = 3.0
"""A scrape, and how late a busy machine may be with it."""


def series(page: str) -> list[str]:
    """Names and labels of the run's samples on a page."""
    lines = (line for line in page.splitlines() if f'run="{RUN}"' in line and not line.startswith("#"))
    return [line.rpartition(" ")[0] for line in lines]


def shown(exporter: Exporter) -> bool | None:
    """Whether every rank of the run is on the page, each series once."""
    found = series(exporter.page())
    assert not [name for name, count in Counter(found).items() if count > 1], "a series twice"
    ranks = {name for name in found if name.startswith("training_rank_info")}
    return len(ranks) == RANKS or None


def test_killing_exporter_and_job_leaves_gaps_and_no_false_values(tmp_path_factory: pytest.TempPathFactory) -> None:
    need_torch()
    exporter = Exporter(tmp_path_factory.mktemp("life"))
    exporter.start()
    try:
        with scraping(exporter) as prometheus:
            began = time.time()
            with running_job(exporter, RUN, "--steps", "100000") as job:
                eventually("every rank is shown", lambda: shown(exporter), within=30)
                before = exporter_is_killed(exporter, job)
                after = prometheus_sees(prometheus, at_least=before)
                assert after >= before, "the job's totals did not start anew with the exporter"
                killed = time.time()
                job.kill()
            eventually("a job that is gone is not shown", lambda: not series(exporter.page()) or None, within=30)
            with running_job(exporter, RUN, "--steps", "100000"):
                eventually("the job is back", lambda: shown(exporter), within=30)
                prometheus_sees(prometheus, at_least=1)
                history_is_true(prometheus, began=began, killed=killed)
    finally:
        exporter.kill()


def exporter_is_killed(exporter: Exporter, job: Job) -> float:
    """Kill it and start it again while the job trains; steps that the job had done when it was away."""
    job.waits_for_steps(len(job.said) + 5)
    exporter.kill()
    job.waits_for_steps(len(job.said) + 5)  # nobody listens, and the job does not notice
    done = len(job.said)
    exporter.start()
    eventually("every rank is back", lambda: shown(exporter), within=15)
    return float(done)


def prometheus_sees(prometheus: Prometheus, *, at_least: float) -> float:
    """Steps of the run, once there are so many."""

    def steps() -> float | None:
        value = prometheus.value(f'training_steps_total{{run="{RUN}"}}')
        return value if value >= at_least else None

    return eventually(f"{at_least:g} steps are scraped", steps, within=30)


def history_is_true(prometheus: Prometheus, *, began: float, killed: float) -> None:
    """Over all that happened: no 0 that nobody measured, nothing of a dead job past its age, totals that only grow."""
    now = time.time()
    seconds = math.ceil(now - began)
    steps = prometheus.samples(f'training_steps_total{{run="{RUN}"}}', at=now, seconds=seconds)
    falls = [new for (_, old), (_, new) in itertools.pairwise(steps) if new < old]
    assert len(falls) == 1, "totals fall once: where the job was started again"
    for name in ("training_loss", "training_last_step_timestamp_seconds", "training_peak_flops_per_second"):
        values = prometheus.samples(f'{name}{{run="{RUN}"}}', at=now, seconds=seconds)
        assert all(value != 0.0 for _, value in values), name
    last_step = prometheus.samples(f'training_last_step_timestamp_seconds{{run="{RUN}"}}', at=now, seconds=seconds)
    assert max(at - stepped for at, stepped in last_step) <= MAX_AGE_SECONDS + LATE_SECONDS
    stale = [at for at, stepped in last_step if stepped <= killed and at > killed + MAX_AGE_SECONDS + LATE_SECONDS]
    assert not stale, "values of the dead job past their age"
    ranks = f'count(count by (run, rank, phase) (training_phase_seconds_total{{run="{RUN}"}}) > 1)'
    assert prometheus.vector(f"max_over_time(({ranks})[{seconds}s:1s])", at=now) == {}, "a series twice"
    assert prometheus.value(f"max_over_time(up[{seconds}s])", at=now) == 1
