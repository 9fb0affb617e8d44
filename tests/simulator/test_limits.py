"""However many faults act at once, the job goes on, says so when it hardly does, and a reset brings it back."""

from __future__ import annotations

import numpy as np
import pytest

from faults.effects import MOST_LATENESS_STEPS, MOST_SLOWDOWN
from faults.parse import parse_fault
from simulator.job import JobSpec
from simulator.presets import preset
from simulator.run import Run
from tests.simulator.jobs import run_with, small


def put(run: Run, *faults: str) -> None:
    for index, text in enumerate(faults):
        run.faults.put(f"f{index}", parse_fault(text), at_seconds=run.seconds, next_step=run.next_step)


@pytest.mark.parametrize(
    ("fault", "spec"),
    [
        ("straggler:ranks=1,slowdown=4", small()),
        ("io_starvation:mode=tail,lateness_steps=5", small()),
        ("io_starvation:mode=uniform,lateness_steps=5", small()),
        ("io_starvation:mode=uniform,lateness_steps=5", small(workers=0)),
        ("dataloader_cpu:slowdown=16", small(workers=0)),
        ("shard_boundary:every_steps=2,open_steps=30", small()),
        ("numa_misaffinity:rate_ratio=0.1,delay_steps=1", small(device_prefetch=False)),
        ("gc_pause:pause_seconds=5,every_steps=2", small()),
        ("checkpoint_stall:every_steps=2,block_steps=30", small()),
        ("sequence_imbalance:longest=2.5", small()),
        ("network_tail_latency:factor=20", small(nodes=4, gpus_per_node=8, overlap=False)),
    ],
)
def test_sixty_of_the_worst_faults_do_not_stop_time(fault: str, spec: JobSpec) -> None:
    run = run_with(spec)
    put(run, *[fault] * 60)
    worst = max(MOST_SLOWDOWN, MOST_LATENESS_STEPS + 1.0) * run.model.healthy_step_seconds * 1.1
    slowest = 0.0
    for _ in range(int(3 * worst) + 2):
        run.advance()
        slowest = max([slowest, *(float(block.durations[0]) for block, _ in run.ended)])
    assert 2.0 * run.model.healthy_step_seconds < slowest <= worst


def test_a_reset_begins_the_running_step_again() -> None:
    run = run_with(small(gradient_accumulation=100))
    put(run, *["straggler:ranks=1,slowdown=4"] * 5)
    stuck = run.advance()
    run.faults.clear_all(at_seconds=run.seconds)
    run.restore_checkpoint()
    healthy = run.model.healthy_step_seconds
    ticks = [run.advance() for _ in range(int(3 * healthy) + 1)]
    assert stuck.counters.steps == 0
    assert ticks[-1].counters.steps >= 2
    assert ticks[-1].last_step is not None
    assert ticks[-1].last_step.duration_seconds == pytest.approx(healthy, rel=0.1)
    np.testing.assert_allclose(ticks[-1].counters.phase_seconds.sum(axis=0), ticks[-1].seconds, rtol=1e-9)


def test_a_job_that_stands_still_does_not_show_its_last_good_rate() -> None:
    run = run_with(preset("workshop-4gpu"))
    calm = [run.advance() for _ in range(3)][-1]
    put(run, *["io_starvation:mode=tail,lateness_steps=5"] * 8)
    shown = [run.advance().step_mfu for _ in range(7)]
    assert shown[-1] < 0.1 * calm.step_mfu
    assert shown == sorted(shown, reverse=True)


def test_streams_of_faults_that_are_gone_are_not_kept() -> None:
    run = run_with(small(nodes=2))
    for index in range(400):
        for kind in (
            "io_starvation:mode=tail,lateness_steps=0.01",
            "network_tail_latency:factor=1.1",
            "numa_misaffinity:delay_steps=0.005",
            "gc_pause:pause_seconds=0.02",
            "checkpoint_stall:block_steps=0.1,every_steps=2",
            "sequence_imbalance:longest=1.05",
            "nan_loss:chance=0.001",
        ):
            name = f"{kind[:2]}-{index}"
            run.faults.put(name, parse_fault(kind), at_seconds=run.seconds, next_step=run.next_step)
        run.advance()
        run.faults.clear_all(at_seconds=run.seconds)
    assert len(run._loader._late) <= 128
    assert len(run.model._tails) <= 128
    hosts = run.model._hosts
    for streams in (hosts._paths, hosts._pauses, hosts._uneven, hosts._writes, run._learning._poisons):
        assert 0 < len(streams) <= 128
