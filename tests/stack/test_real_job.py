"""A real job: PyTorch DDP over gloo, four processes, healthy and then slow, starved and exploding in earnest.

The shipped rules must say of it what is true of it, and what the job's own log says.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from statistics import median

import pytest

from tests.stack.real import eventually
from tests.stack.real_job import (
    PEAK_FLOPS,
    RANKS,
    Exporter,
    need_torch,
    rule_expression,
    running_job,
    scraping,
    stop_and_go,
)
from tests.stack.servers import Prometheus

pytestmark = pytest.mark.stack

WIDTH, LAYERS, CHARACTERS, VOCABULARY, BATCH = 128, 2, 64, 64, 4
"""Of the example, as it is by default."""
RANGE = 15
COLLECTIVE_EXCESS = "rank:training_collective_excess:ratio_rate1m"
DATA_WAIT = "rank:training_data_wait:ratio_rate1m"


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Exporter, Prometheus]]:
    """The exporter of a node, and the Prometheus that scrapes it."""
    need_torch()
    exporter = Exporter(tmp_path_factory.mktemp("node"))
    exporter.start()
    try:
        with scraping(exporter) as prometheus:
            yield exporter, prometheus
    finally:
        exporter.kill()


def by_rank(prometheus: Prometheus, series: str, run: str) -> dict[int, float]:
    """A recorded series of a run, of each of its ranks."""
    found = prometheus.vector(f'{series}{{run="{run}"}}')
    assert len(found) == RANKS, f"{series} has {len(found)} ranks"
    return {int(dict(labels)["rank"]): value for labels, value in found.items()}


def flops_of_a_step() -> int:
    """Every multiplication of two matrices in the example, by hand: forward, and twice as much backward."""
    tokens = RANKS * BATCH * CHARACTERS
    query_key_value, project = WIDTH * 3 * WIDTH, WIDTH * WIDTH
    feed = WIDTH * 4 * WIDTH + 4 * WIDTH * WIDTH
    scores = mixing = CHARACTERS * WIDTH
    layer = query_key_value + project + feed + scores + mixing
    return 3 * 2 * tokens * (LAYERS * layer + WIDTH * VOCABULARY)


def test_a_healthy_job_says_where_its_time_goes_and_what_it_does(node: tuple[Exporter, Prometheus]) -> None:
    exporter, prometheus = node
    # Reports are a second apart, and so are scrapes: each end of a range is known to a second.
    with running_job(exporter, "healthy", "--workers", "1", "--steps", "100000") as job:
        job.waits_for_steps(20)

        def scraped() -> bool | None:
            now = time.time()
            assert prometheus.value('training_steps_total{run="healthy"}', at=now) > 0
            samples = prometheus.samples('training_steps_total{run="healthy"}', at=now, seconds=RANGE)
            return (len(samples) >= RANGE - 1 and samples[0][1] >= 1) or None

        eventually("steps fill the range", scraped, within=120)
        at = time.time()
        # The rule over a shorter range, in which the first steps, which are slower, are no more.
        expression = rule_expression(prometheus, "run:training_mfu:ratio_rate1m").replace("[1m]", f"[{RANGE}s]")
        mfu = prometheus.vector(expression, at=at)
        steps = prometheus.samples('training_steps_total{run="healthy"}', at=at, seconds=RANGE)
        first, last = round(steps[0][1]), round(steps[-1][1])
        job.waits_for_steps(last)

    said = job.said
    assert 1 <= first <= last - 5, "steps enough to compare"
    by_hand = (last - first) * flops_of_a_step() / (said[last - 1]["time"] - said[first - 1]["time"])
    assert mfu[("run", "healthy"),] == pytest.approx(by_hand / (RANKS * PEAK_FLOPS), rel=0.05)

    dropped = prometheus.vector('exporter_samples_dropped_total{source="job"} > 0', at=at)
    assert dropped == {}, "every report of the recorders was believed"
    assert prometheus.value('exporter_source_up{source="job"}', at=at) == 1

    phases = prometheus.vector('sum by (rank) (rate(training_phase_seconds_total{run="healthy"}[15s]))', at=at)
    # Both ends of these 15 seconds are known to a second, or to two on a busy machine.
    assert list(phases.values()) == pytest.approx([1.0] * RANKS, abs=0.27), "a second in a second"
    share = prometheus.vector('sum by (phase) (rate(training_phase_seconds_total{run="healthy"}[15s]))', at=at)
    for phase in ("data_wait", "forward", "backward", "collective", "optimizer"):
        assert share[("phase", phase),] > 0, phase
    named = sum(spent for labels, spent in share.items() if labels != (("phase", "stall"),))
    assert named > 0.9 * sum(share.values()), "two lines in the script name nine tenths of its time"

    moved = prometheus.value('training_collective_bytes_total{run="healthy",rank="0"}', at=at)
    done = prometheus.value('training_steps_total{run="healthy"}', at=at)
    parameters = LAYERS * (12 * WIDTH**2 + 4 * WIDTH) + 2 * WIDTH * VOCABULARY + CHARACTERS * WIDTH + 2 * WIDTH
    assert moved == pytest.approx(done * 4 * parameters * 2 * (RANKS - 1) / RANKS, rel=0.1)
    assert prometheus.value('training_dataloader_capacity_batches{run="healthy",rank="0"}', at=at) == 2
    assert prometheus.value('training_loss{run="healthy"}', at=at) == pytest.approx(said[last - 1]["loss"], rel=0.2)


def test_a_rank_that_gets_half_a_processor_is_the_one_that_the_others_wait_for(
    node: tuple[Exporter, Prometheus],
) -> None:
    exporter, prometheus = node
    culprit = 2
    with running_job(exporter, "straggler", "--steps", "100000") as job, stop_and_go(job.pids[culprit], seconds=0.1):

        def named() -> dict[int, float] | None:
            excess = by_rank(prometheus, COLLECTIVE_EXCESS, "straggler")
            others = [excess[rank] for rank in range(RANKS) if rank != culprit]
            return excess if excess[culprit] == 0.0 and min(others) > 0.05 else None

        job.waits_for_steps(30)
        eventually("the rules name the culprit", named, within=120)
        job.waits_for_steps(40)
        excess = by_rank(prometheus, COLLECTIVE_EXCESS, "straggler")
    assert min(excess, key=excess.__getitem__) == culprit, "and they stay with it"


def test_a_rank_whose_data_come_late_is_named_by_its_data_wait(node: tuple[Exporter, Prometheus]) -> None:
    exporter, prometheus = node
    culprit = 3
    late = ("--slow-loader", str(culprit), "--slow-seconds", "0.2")
    with running_job(exporter, "starved", "--steps", "100000", *late) as job:

        def named() -> dict[int, float] | None:
            waits = by_rank(prometheus, DATA_WAIT, "starved")
            others = [waits[rank] for rank in range(RANKS) if rank != culprit]
            return waits if waits[culprit] > 0.3 and waits[culprit] > 3 * max(others) else None

        job.waits_for_steps(20)
        eventually("the rules name the rank", named, within=120)
        excess = by_rank(prometheus, COLLECTIVE_EXCESS, "starved")
    assert min(excess, key=excess.__getitem__) == culprit, "and the others wait for it"


def test_gradients_explode_no_later_than_the_loss(node: tuple[Exporter, Prometheus]) -> None:
    exporter, prometheus = node
    healthy = 60
    with running_job(exporter, "exploding", "--explode-at", str(healthy), "--steps", str(healthy + 30)) as job:
        job.ends()
    said = job.said
    usual = {name: median(step[name] for step in said[healthy - 20 : healthy]) for name in ("grad_norm", "loss")}
    # A value that is no number any more is past every bound.
    exploded = next(step["step"] for step in said[healthy:] if not step["grad_norm"] <= 3.0 * usual["grad_norm"])
    risen = next(step["step"] for step in said[healthy:] if not step["loss"] <= 1.3 * usual["loss"])
    assert exploded <= risen

    # The last report is shown for a while after the job has ended, and stored for longer.
    last = 'last_over_time(training_{name}{{run="exploding"}}[5m])'

    def final() -> bool | None:
        return prometheus.value(last.format(name="steps_total")) == healthy + 30 or None

    eventually("the last report is stored", final, within=15)
    norm, loss, spikes = (
        prometheus.value(last.format(name=name)) for name in ("grad_norm", "loss", "grad_norm_spikes_total")
    )
    assert norm == pytest.approx(said[-1]["grad_norm"], rel=1e-3)
    assert loss == pytest.approx(said[-1]["loss"], rel=1e-3)
    assert spikes >= 5
