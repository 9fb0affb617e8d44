"""The misconfigurations of NCCL, and slow links: what they do to collectives, and what they leave alone."""

from __future__ import annotations

import numpy as np
import pytest

from faults.book import FaultBook
from faults.effects import MOST_SLOWDOWN, Effects
from faults.parse import parse_fault
from simulator.fabric import interface_rates, interface_shares, link_slowdown, settings_under, under
from simulator.job import Cluster, JobSpec, Nccl
from simulator.presets import preset
from simulator.run import topology_of
from simulator.sweep import SweepRow, sweep
from tests.simulator.jobs import run_with, small
from tests.simulator.watching import Watched, watch

ANATOMY, HONEST = preset("anatomy-32gpu"), preset("honest-64xh100")
EVERY = ("nccl_small_buffer", "gdr_disabled", "nccl_algo", "link_degraded")


def effects_on(spec: JobSpec, *faults: str) -> Effects:
    book = FaultBook(topology_of(spec), seed=1)
    for index, fault in enumerate(faults):
        book.put(f"f{index}", parse_fault(fault), at_seconds=0.0, next_step=0)
    return book.effects(0.0).limited()


def swept(spec: JobSpec, *faults: str, nodes: int | None = None) -> list[SweepRow]:
    state = under(effects_on(spec, *faults), spec, nodes=nodes or spec.cluster.nodes)
    return sweep(
        spec, nodes=nodes, collective_factor=state.collective_factor, nccl=state.nccl, link_slowdown=state.link_slowdown
    )


def bus_bytes_out(watched: Watched) -> np.ndarray:
    """(K, NICs) bytes per step."""
    return watched.counters.network_transmit_bytes / watched.counters.steps


@pytest.mark.parametrize("fault", EVERY)
@pytest.mark.parametrize(("spec", "seconds"), [(ANATOMY, 40), (HONEST, 300)], ids=["anatomy", "honest"])
def test_every_rank_transfers_longer_and_nothing_else_moves(spec: JobSpec, seconds: int, fault: str) -> None:
    healthy, seen = watch(spec, seconds=seconds), watch(spec, fault, seconds=seconds)
    more = seen.phase("collective") - healthy.phase("collective")
    assert np.ptp(more) <= 1e-9, "on all ranks alike"
    assert more.min() > 0.0
    assert seen.step_seconds > healthy.step_seconds
    assert seen.mfu < healthy.mfu
    waited = np.abs(seen.phase("collective_wait") - healthy.phase("collective_wait"))
    assert waited.max() < 0.008 * healthy.step_seconds, "no rank waits for another one"
    for phase in ("data_wait", "h2d", "optimizer", "checkpoint"):
        np.testing.assert_allclose(seen.phase(phase), healthy.phase(phase), rtol=0.02, atol=1e-4)
    kernels = [w.counters.collective_seconds / w.counters.steps for w in (seen, healthy)]
    assert (kernels[0] > kernels[1]).all()
    assert (seen.mean("gpu_util_percent") >= healthy.mean("gpu_util_percent") - 0.01).all()
    np.testing.assert_array_equal(seen.mean("sm_clock_mhz"), healthy.mean("sm_clock_mhz"))
    assert not seen.counters.network_pause_frames.any()
    assert not seen.counters.network_retransmits.any()


@pytest.mark.parametrize("fault", EVERY)
def test_bytes_over_pcie_say_gpudirect_is_off_and_nothing_else(fault: str) -> None:
    healthy, seen = watch(ANATOMY, seconds=30), watch(ANATOMY, fault, seconds=30)

    def per_step(watched: Watched, reading: str) -> float:
        return float(watched.mean(reading).mean()) * watched.step_seconds

    for reading in ("pcie_tx_bytes_per_second", "pcie_rx_bytes_per_second"):
        factor = 2.0 if fault == "gdr_disabled" else 1.0
        assert per_step(seen, reading) == pytest.approx(factor * per_step(healthy, reading), rel=0.01)
    nvlink = "nvlink_tx_bytes_per_second"
    assert per_step(seen, nvlink) == pytest.approx(per_step(healthy, nvlink), rel=0.01)


def test_ranks_that_stage_in_host_memory_are_seen_to() -> None:
    healthy = watch(ANATOMY, seconds=20)
    seen = watch(ANATOMY, "gdr_disabled:nodes=2,intensity=0.5", seconds=20)
    crossed = seen.mean("pcie_tx_bytes_per_second").reshape(4, 8)
    assert crossed[2] == pytest.approx(1.5 * crossed[0], rel=1e-6)
    np.testing.assert_allclose(crossed[[1, 3]], crossed[[0, 0]], rtol=1e-9)
    assert seen.step_seconds > 1.01 * healthy.step_seconds, "all wait for the node that stages"


@pytest.mark.parametrize(
    ("fault", "large", "small_too"),
    [
        ("nccl_small_buffer", 1.40, False),
        ("nccl_small_buffer:intensity=moderate", 1.10, False),
        ("gdr_disabled", 2.0, False),
        ("gdr_disabled:intensity=mild", 1.25, False),
        ("link_degraded:ranks=9", 3.28, False),
        ("nccl_algo:algorithm=ring", 1.0, True),
        ("nccl_algo:algorithm=tree", 1.0, True),
    ],
)
def test_the_isolated_sweep_shows_at_which_end_it_hurts(fault: str, large: float, small_too: bool) -> None:
    healthy, seen = swept(HONEST), swept(HONEST, fault)
    assert healthy[-1]["busbw_gb_per_s"] / seen[-1]["busbw_gb_per_s"] == pytest.approx(large, rel=0.02)
    latency = seen[0]["time_us"] / healthy[0]["time_us"]
    assert latency > 1.2 if small_too else latency == pytest.approx(1.0, abs=0.01)


@pytest.mark.parametrize("fault", EVERY)
def test_on_one_node_none_of_them_matters(fault: str) -> None:
    assert swept(HONEST, fault, nodes=1) == swept(HONEST, nodes=1)


def test_they_multiply_on_the_transfer_time() -> None:
    healthy, seen = swept(HONEST), swept(HONEST, "nccl_small_buffer", "gdr_disabled", "link_degraded")
    assert healthy[-1]["busbw_gb_per_s"] / seen[-1]["busbw_gb_per_s"] == pytest.approx(1.4 * 2.0 * 3.28, rel=0.03)


def test_the_ring_is_why_nccl_avoids_it_at_a_thousand_ranks() -> None:
    big = preset("llama3-405b-16k")
    healthy, seen = swept(big, nodes=128), swept(big, "nccl_algo", nodes=128)
    assert seen[0]["time_us"] > 10 * healthy[0]["time_us"]


def test_settings_of_the_job_that_are_worse_already_stay() -> None:
    own = Nccl(algorithm="tree", buffer_bytes=2**18, gpudirect=False, staging_slowdown=3.0)
    assert settings_under(own, effects_on(HONEST, *EVERY)) == own
    assert settings_under(Nccl(), effects_on(HONEST, *EVERY)) == Nccl("ring", 1.0, 2**19, False, 2.0)


def test_the_slow_interface_carries_less_and_its_neighbours_the_rest() -> None:
    healthy = watch(HONEST, seconds=120)
    seen = watch(HONEST, "link_degraded:ranks=19", seconds=120)
    before, after = bus_bytes_out(healthy), bus_bytes_out(seen)
    assert after[2, 3] < 0.85 * before[2, 3]
    others = [nic for nic in range(8) if nic != 3]
    assert (after[2, others] > 1.01 * before[2, others]).all()
    steady = [node for node in range(8) if node != 2]
    # Bytes accrue inside a step, so the one in progress is in both.
    np.testing.assert_allclose(after[steady], before[steady], rtol=0.04)
    assert after[2].sum() == pytest.approx(after[0].sum(), rel=1e-9), "a ring takes as much through every node"
    rate = [watched.counters.network_transmit_bytes[2].sum() for watched in (healthy, seen)]
    assert rate[1] < rate[0], "that node sends less in the same time"


@pytest.mark.parametrize(("gpus", "nics", "place"), [(8, 8, 5), (4, 8, 2), (8, 4, 2), (2, 8, 4)])
def test_an_interface_stands_beside_the_gpu_that_it_serves(gpus: int, nics: int, place: int) -> None:
    cluster = Cluster(nodes=3, gpus_per_node=gpus, gpu=HONEST.cluster.gpu, nics_per_node=nics)
    effects = effects_on(small(nodes=3, gpus_per_node=gpus))
    local = {(8, 8): 5, (4, 8): 1, (8, 4): 5, (2, 8): 1}[gpus, nics]
    effects.nic_rate[gpus + local] = 0.5
    rates = interface_rates(cluster, effects)
    assert rates is not None
    assert np.argwhere(rates < 1.0).tolist() == [[1, place]]
    np.testing.assert_allclose(interface_shares(rates).sum(axis=1), nics)
    assert 1.0 < link_slowdown(cluster, effects) < 2.0


def test_a_link_outside_of_the_nodes_that_take_part_does_not_slow_them() -> None:
    assert swept(HONEST, "link_degraded:ranks=63", nodes=4) == swept(HONEST, nodes=4)


def test_however_many_there_are_collectives_end() -> None:
    spec = small(nodes=4, gpus_per_node=8, overlap=False).without_noise()
    healthy, worst = run_with(spec), run_with(spec)
    for index in range(15):
        for fault in (
            "network_tail_latency:factor=20",
            "nccl_small_buffer:buffer_bytes=65536",
            "gdr_disabled:staging_factor=4",
            "link_degraded:rate_ratio=0.05,ranks=3",
        ):
            name = f"{fault[:3]}-{index}"
            worst.faults.put(name, parse_fault(fault), at_seconds=0.0, next_step=0)
    calm = healthy.model.chain.total_seconds
    ended = []
    for _ in range(60):
        worst.advance()
        ended += [float(block.phases[0, 5, 0]) for block, _ in worst.ended]
    assert ended
    assert max(ended) <= 1.2 * MOST_SLOWDOWN * calm


def test_the_many_settings_of_a_ramp_are_not_kept() -> None:
    run = run_with(ANATOMY, "nccl_small_buffer:ramp_up_seconds=200")
    for _ in range(100):
        run.advance()
    assert len(run.model.fabric._chains) <= 32
