"""Batches and copies that come late: on whom, in which steps, and what stays as it was."""

from __future__ import annotations

import numpy as np
import pytest

from faults.parse import parse_fault
from simulator.headless import start
from simulator.presets import preset
from tests.simulator.jobs import quiet, small
from tests.simulator.watching import first_steps, watch

TWO_NODES = small(nodes=2, gpus_per_node=4)
HERE, THERE = slice(4, 8), slice(0, 4)
"""Ranks of node 1, where the fault is, and of node 0."""
OWN_PACE = ("forward", "backward", "optimizer", "checkpoint", "stall")


def test_slow_workers_starve_their_node_and_everybody_else_waits() -> None:
    healthy, seen = (watch(TWO_NODES, *faults, seconds=60) for faults in ((), ("dataloader_cpu:nodes=1,slowdown=16",)))
    before, after = healthy.phase("data_wait"), seen.phase("data_wait")
    np.testing.assert_allclose(after[THERE], before[THERE], rtol=0.01)
    assert (after[HERE] > 10 * before[HERE]).all()
    waits = seen.phase("collective_wait") - healthy.phase("collective_wait")
    assert (waits[THERE] > 0.9 * (after[HERE] - before[HERE]).mean()).all()
    assert (waits[HERE] < 0.05 * waits[THERE].min()).all()
    assert seen.mfu < 0.8 * healthy.mfu
    assert (seen.mean("gpu_util_percent")[THERE] >= healthy.mean("gpu_util_percent")[THERE] - 0.1).all()
    assert (seen.mean("gpu_util_percent")[HERE] < healthy.mean("gpu_util_percent")[HERE] - 10).all()
    assert (seen.mean("power_watts") < healthy.mean("power_watts")).all()
    for phase in OWN_PACE:
        np.testing.assert_allclose(seen.phase(phase), healthy.phase(phase), rtol=0.01)


def test_storage_is_read_more_slowly_and_only_because_steps_are() -> None:
    runs = [
        start(TWO_NODES, seed=3, faults=[parse_fault(text) for text in faults])
        for faults in ((), ("dataloader_cpu:nodes=1,slowdown=16",))
    ]
    healthy, seen = ([run.advance() for _ in range(60)][-1].counters for run in runs)
    assert (seen.storage_read_bytes < 0.8 * healthy.storage_read_bytes).all()
    per_step = [counters.storage_read_bytes / counters.steps for counters in (healthy, seen)]
    np.testing.assert_allclose(per_step[1], per_step[0], rtol=0.01)


def test_the_queues_of_that_node_run_empty_and_the_others_stay_full() -> None:
    run = start(TWO_NODES, seed=3, faults=[parse_fault("dataloader_cpu:nodes=1,slowdown=16")])
    tick = [run.advance() for _ in range(20)][-1]
    assert tick.queue_batches[HERE].max() == 0
    assert tick.queue_batches[THERE].min() >= 7


def test_workers_that_have_time_to_spare_are_not_missed() -> None:
    job = small(service_seconds=0.01)
    healthy, seen = (first_steps(job, *faults, steps=300) for faults in ((), ("dataloader_cpu:slowdown=4",)))
    np.testing.assert_array_equal(seen.phases, healthy.phases)


def test_loading_in_the_training_process_takes_as_much_longer() -> None:
    job = small(workers=0, service_seconds=0.005)
    healthy, seen = (first_steps(job, *faults, steps=50) for faults in ((), ("dataloader_cpu:slowdown=3",)))
    np.testing.assert_allclose(seen.phase("data_wait") - healthy.phase("data_wait"), 0.010, rtol=1e-9)


def test_the_job_stalls_at_exact_steps_on_another_rank_each_time() -> None:
    job, every = small(checkpoint_every_steps=0), 20
    healthy, seen = (first_steps(job, *faults, steps=400) for faults in ((), (f"shard_boundary:every_steps={every}",)))
    stalled = np.arange(400) % every == 0
    np.testing.assert_array_equal(seen.phases[~stalled], healthy.phases[~stalled])
    late = start(job, seed=3).model.healthy_step_seconds * 2.4
    np.testing.assert_allclose((seen.durations - healthy.durations)[stalled], late, rtol=0.02)
    waits = (seen.phase("data_wait") - healthy.phase("data_wait"))[stalled]
    assert ((waits > 0.5 * late).sum(axis=1) == 1).all(), "one rank opens a shard"
    assert set(waits.argmax(axis=1)) == {0, 1, 2, 3}
    grown = (seen.phase("collective_wait") - healthy.phase("collective_wait"))[stalled]
    assert ((grown > 0.9 * late).sum(axis=1) == 3).all()
    assert (grown[np.arange(len(grown)), waits.argmax(axis=1)] < 1e-12).all(), "who is late waits for nobody"
    for phase in OWN_PACE:
        np.testing.assert_array_equal(seen.phase(phase), healthy.phase(phase))
    np.testing.assert_array_equal(seen.losses, healthy.losses)


def test_a_shard_boundary_hides_in_means() -> None:
    """What the speed run's log shows: 250 ms each 190 steps are half a percent, and nobody sees them."""
    healthy, seen = (
        watch(preset("workshop-4gpu"), *faults, seconds=180)
        for faults in ((), ("shard_boundary:every_steps=190,open_steps=1.2",))
    )
    assert seen.step_seconds / healthy.step_seconds == pytest.approx(1 + 1.2 / 190, abs=0.003)
    assert (seen.mean("gpu_util_percent") >= 99.0).all()


def test_a_misplaced_process_delays_its_rank_and_its_peers_wait() -> None:
    job = preset("workshop-4gpu").without_noise()
    healthy, seen = (watch(job, *faults, seconds=120) for faults in ((), ("numa_misaffinity:ranks=2",)))
    step = healthy.step_seconds
    others = [0, 1, 3]
    h2d = seen.phase("h2d") - healthy.phase("h2d")
    assert h2d[2] == pytest.approx(0.06 * step, rel=0.05)
    assert (h2d[others] == 0.0).all()
    for phase in ("data_wait", *OWN_PACE):
        np.testing.assert_allclose(seen.phase(phase), healthy.phase(phase), rtol=0.01)
    waits = seen.phase("collective_wait")
    assert int(waits.argmin()) == 2
    np.testing.assert_allclose(waits[others] - healthy.phase("collective_wait")[others], 0.06 * step, rtol=0.05)
    assert seen.step_seconds / step == pytest.approx(1.06, abs=0.005)
    assert seen.mfu / healthy.mfu == pytest.approx(1 / 1.06, abs=0.005)
    tensor = seen.mean("tensor_active") / healthy.mean("tensor_active")
    assert np.ptp(tensor) < 0.005
    assert tensor.max() < 0.96
    assert (seen.mean("gpu_util_percent")[others] >= 98.0).all()
    assert seen.mean("gpu_util_percent").mean() >= 98.0
    assert (seen.mean("power_watts")[others] < healthy.mean("power_watts")[others]).all()
    assert (seen.mean("sm_clock_mhz") == healthy.mean("sm_clock_mhz")).all()


def test_copies_in_the_open_run_at_half_the_rate_and_vary() -> None:
    job = small(device_prefetch=False, sample_bytes=20e6)
    healthy, seen = (
        first_steps(job, *faults, steps=400) for faults in ((), ("numa_misaffinity:ranks=1,delay_steps=0.005",))
    )
    copy = float(healthy.phase("h2d")[0, 1])
    delay = 0.005 * start(job, seed=3).model.healthy_step_seconds
    copies = seen.phase("h2d")[:, 1] - delay
    assert copies.mean() == pytest.approx(2 * copy, rel=0.02)
    assert 0.1 < copies.std() / copy < 0.2
    np.testing.assert_array_equal(np.delete(seen.phase("h2d"), 1, axis=1), np.delete(healthy.phase("h2d"), 1, axis=1))


def test_copies_that_are_prefetched_stay_hidden() -> None:
    job = small(noise=quiet())
    seen = first_steps(job, "numa_misaffinity:ranks=1,rate_ratio=0.1,delay_steps=0.01", steps=50)
    delay = 0.01 * start(job, seed=3).model.healthy_step_seconds
    assert seen.phase("h2d")[:, 1].mean() == pytest.approx(delay, rel=0.1)
