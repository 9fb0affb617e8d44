"""Jobs that stand still at full utilization, and those that a storm slows down."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from faults.parse import parse_fault
from simulator.device import phase_rows
from simulator.headless import simulate, start
from simulator.in_job import in_job
from simulator.job import JobSpec
from simulator.names import PHASES
from simulator.observation import Tick
from simulator.predict import predict
from simulator.presets import preset
from simulator.run import Run
from tests.simulator.jobs import run_with, small
from tests.simulator.test_identities import assert_steps, assert_tick
from tests.simulator.watching import watch

WORKSHOP, ANATOMY = preset("workshop-4gpu"), preset("anatomy-32gpu")
WAIT, TRANSFER, STALL = (PHASES.index(name) for name in ("collective_wait", "collective", "stall"))
SPIN = phase_rows(WORKSHOP.cluster.gpu)[STALL]


def stopped(spec: JobSpec, fault: str, *, seconds: int = 30) -> tuple[Run, list[Tick]]:
    """A run that the fault stops at second 10, and its ticks."""
    run = run_with(spec, f"{fault},start_after_seconds=10" if ":" in fault else f"{fault}:start_after_seconds=10")
    return run, [run.advance() for _ in range(seconds)]


def grown(ticks: list[Tick]) -> np.ndarray:
    """(P, R) phase seconds of the last ten ticks."""
    return ticks[-1].counters.phase_seconds - ticks[-11].counters.phase_seconds


@pytest.mark.parametrize(
    ("spec", "fault"), [(WORKSHOP, "hang:ranks=2"), (ANATOMY, "hang:ranks=2"), (ANATOMY, "pfc_storm")]
)
def test_no_step_ends_at_full_utilization(spec: JobSpec, fault: str) -> None:
    run, ticks = stopped(spec, fault)
    assert run.stands_still
    last = [tick.last_step_timestamp for tick in ticks]
    assert last[8] < last[9]
    assert len(set(last[12:])) == 1, "the time of the last step stands still"
    counters = ticks[-1].counters
    assert (counters.steps, counters.tokens) == (ticks[12].counters.steps, ticks[12].counters.tokens)
    devices = ticks[-1].devices
    assert (devices.gpu_util_percent == 100.0).all()
    np.testing.assert_allclose(devices.power_watts, SPIN.watts)
    np.testing.assert_allclose(devices.sm_active, SPIN.sm_active)
    assert not devices.tensor_active.any()
    np.testing.assert_allclose(counters.phase_seconds.sum(axis=0), 30.0, rtol=1e-9)
    assert ticks[-1].step_mfu < 0.05 * ticks[8].step_mfu
    assert ticks[-1].learning == ticks[12].learning
    assert (devices.throttle_reasons == 0).all()


def test_of_a_hang_all_but_the_missing_rank_wait() -> None:
    _, ticks = stopped(WORKSHOP, "hang:ranks=2")
    seconds = grown(ticks)
    np.testing.assert_allclose(seconds[WAIT], [10, 10, 0, 10], atol=1e-5)
    np.testing.assert_allclose(seconds[STALL], [0, 0, 10, 0], atol=1e-5)
    inside = ticks[-1].counters.collective_seconds - ticks[-11].counters.collective_seconds
    np.testing.assert_allclose(inside, [10, 10, 0, 10], atol=1e-5)


def test_of_a_collapsed_fabric_nobody_waits_for_anybody() -> None:
    _, ticks = stopped(ANATOMY, "pfc_storm")
    seconds = grown(ticks)
    np.testing.assert_allclose(seconds[TRANSFER], 10, atol=1e-5)
    np.testing.assert_allclose(np.delete(seconds, TRANSFER, axis=0), 0, atol=1e-5)
    frames = [tick.counters.network_pause_frames for tick in (ticks[8], ticks[-11], ticks[-1])]
    assert not frames[0].any()
    assert (frames[2] > frames[1]).all(), "the storm goes on"


def test_a_rank_stuck_on_its_host_idles_while_the_others_spin() -> None:
    _, ticks = stopped(WORKSHOP, "hang:ranks=2,where=host")
    devices = ticks[-1].devices
    assert devices.gpu_util_percent.tolist() == [100, 100, 0, 100]
    assert devices.power_watts[2] == pytest.approx(WORKSHOP.cluster.gpu.idle.watts)
    burnt = ticks[-1].counters.energy_joules - ticks[-11].counters.energy_joules
    np.testing.assert_allclose(burnt, 10 * devices.power_watts, rtol=1e-6)


@pytest.mark.parametrize("fault", ["hang:ranks=1", "hang:ranks=1,where=host", "pfc_storm", "pfc_storm:intensity=0.5"])
def test_cleared_equals_never_injected(fault: str) -> None:
    spec = small(nodes=2, gpus_per_node=4)
    broken, calm = run_with(spec, seed=5), run_with(spec, seed=5)
    phases: dict[str, dict[int, np.ndarray]] = {"broken": {}, "calm": {}}
    learned: dict[str, dict[int, object]] = {"broken": {}, "calm": {}}
    for second in range(90):
        if second == 3:
            broken.faults.put("f", parse_fault(fault), at_seconds=broken.seconds, next_step=broken.next_step)
        if second == 23:
            broken.faults.clear("f", at_seconds=broken.seconds)
        for name, run in (("broken", broken), ("calm", calm)):
            tick = run.advance()
            learned[name] |= {block.first_step: step for block, step in run.ended}
            if second < 3 or second >= 40:
                phases[name] |= {block.first_step: block.phases[0] for block, _ in run.ended}
            if second == 89:
                assert (tick.devices.gpu_util_percent > 90).all()
    for found in (phases, learned):
        shared = sorted(found["broken"].keys() & found["calm"].keys())
        assert len(shared) > 500
        for step in shared:
            np.testing.assert_equal(found["broken"][step], found["calm"][step])
    assert sorted(learned["broken"]) == list(range(len(learned["broken"]))), "every step is learned from, once"


def test_a_reset_ends_it_and_the_step_begins_again() -> None:
    run, _ = stopped(WORKSHOP, "hang:ranks=2")
    step = run.next_step
    run.faults.clear_all(at_seconds=run.seconds)
    run.restore_checkpoint()
    assert not run.stands_still
    ticks = [run.advance() for _ in range(3)]
    assert ticks[-1].last_step is not None
    assert ticks[-1].last_step.step >= step + 8
    np.testing.assert_allclose(ticks[-1].counters.phase_seconds.sum(axis=0), ticks[-1].seconds, rtol=1e-9)


@pytest.mark.parametrize("faults", [("hang:ranks=1", "pfc_storm"), ("pfc_storm", "hang:ranks=1")])
def test_two_reasons_to_stand_still_do_not_depend_on_their_order(faults: tuple[str, ...]) -> None:
    run = run_with(ANATOMY)
    for fault in faults:
        run.faults.put(fault[:3], parse_fault(fault), at_seconds=0.0, next_step=0)
    ticks = [run.advance() for _ in range(12)]
    seconds = grown(ticks)
    assert seconds[STALL, 1] == pytest.approx(10, abs=1e-5)
    assert seconds[WAIT, 0] == pytest.approx(10, abs=1e-5)
    run.faults.clear("han", at_seconds=run.seconds)
    run.advance()
    assert run.stands_still, "the other one still acts"


@pytest.mark.parametrize(("intensity", "slower"), [(0.25, 1.1), (0.5, 1.2)])
def test_a_storm_makes_single_steps_long_on_all_ranks_alike(intensity: float, slower: float) -> None:
    healthy, seen = (watch(ANATOMY, *faults, seconds=60) for faults in ((), (f"pfc_storm:intensity={intensity}",)))
    assert seen.step_seconds > slower * healthy.step_seconds
    transfer = seen.phase("collective")
    assert np.ptp(transfer) <= 1e-9
    np.testing.assert_allclose(seen.phase("collective_wait"), healthy.phase("collective_wait"), atol=1e-4)
    np.testing.assert_allclose(seen.phase("forward"), healthy.phase("forward"), rtol=0.01)
    assert (seen.mean("gpu_util_percent") >= healthy.mean("gpu_util_percent")).all()
    frames, resent = seen.counters.network_pause_frames, seen.counters.network_retransmits
    assert frames.shape == resent.shape == (4, 8)
    np.testing.assert_allclose(frames, 60 * 20_000 * intensity, rtol=0.3)
    np.testing.assert_allclose(resent, 60 * 400 * intensity, rtol=0.3)
    assert (frames == np.floor(frames)).all()
    assert not healthy.counters.network_pause_frames.any()


def test_spikes_hit_their_share_of_the_steps() -> None:
    run = start(ANATOMY.without_noise(), seed=2, faults=[parse_fault("pfc_storm:intensity=0.5")])
    times: list[float] = []
    while len(times) < 2_000:
        run.advance()
        times += [float(block.phases[0, TRANSFER, 0]) for block, _ in run.ended]
    least = min(times)
    hit = np.array(times) > 1.01 * least
    assert hit.mean() == pytest.approx(0.3, abs=0.03)
    assert max(times) > 5 * least


def test_only_the_interfaces_that_are_meant_count_frames() -> None:
    seen = watch(ANATOMY, "pfc_storm:nodes=1,intensity=0.5", seconds=10)
    assert seen.counters.network_pause_frames.any(axis=1).tolist() == [False, True, False, False]


@pytest.mark.parametrize("fault", ["hang", "pfc_storm"])
def test_what_asks_for_steps_says_that_there_are_none(fault: str) -> None:
    faults = [parse_fault(fault)]
    with pytest.raises(ValueError, match="steps: the job stands still for more than 900 simulated seconds after 0 of"):
        simulate(ANATOMY, steps=10, seed=1, faults=faults)
    with pytest.raises(ValueError, match="no step ends under it"):
        in_job(ANATOMY, seed=1, faults=faults)
    found = predict(ANATOMY, faults[0], seed=1)
    assert found.stands_still
    assert found.mfu.after == found.tokens_per_second.after == 0.0
    assert found.mfu.before > 0.2
    assert found.step_seconds.after > 100 * found.step_seconds.before
    assert found.gpu_util_percent.after == pytest.approx(100.0, abs=0.1)
    assert not predict(ANATOMY, parse_fault("straggler"), seed=1).stands_still


def test_a_hang_that_ends_in_time_costs_what_it_lasts() -> None:
    faults = [replace(parse_fault("hang"), open_ended=False, duration_seconds=20.0)]
    summary = simulate(WORKSHOP, steps=50, seed=1, faults=faults)
    assert summary["step_seconds"]["max"] < 0.3, "the step began again"


STOPS = ("hang:ranks=1", "hang:ranks=0,where=host", "gpu_lost:ranks=2", "ecc_error:ranks=3", "pfc_storm")
OTHERS = (
    "straggler:ranks=1,slowdown=1.5",
    "io_starvation:mode=tail",
    "pfc_storm:intensity=0.5",
    "link_degraded:ranks=5",
    "gdr_disabled:intensity=0.5",
    "nccl_small_buffer",
    "nccl_algo:algorithm=tree",
    "telemetry_stale",
    "node_unreachable",
    "hang:ranks=4,shape=flap,period_seconds=4",
    "pfc_storm:shape=sine,period_seconds=6",
)


@settings(max_examples=30, deadline=None)
@given(
    stops=st.lists(st.sampled_from(STOPS), max_size=2, unique=True),
    others=st.lists(st.sampled_from(OTHERS), max_size=4, unique=True),
    strategy=st.sampled_from(["ddp", "fsdp"]),
    overlap=st.booleans(),
)
def test_the_identities_hold_in_every_mix(stops: list[str], others: list[str], strategy: str, overlap: bool) -> None:
    run = run_with(small(nodes=2, gpus_per_node=4, strategy=strategy, overlap=overlap), *others)
    for second in range(9):
        for index, text in enumerate(stops):
            if second == 3:
                run.faults.put(f"s{index}", parse_fault(text), at_seconds=run.seconds, next_step=run.next_step)
            if second == 6:
                run.faults.clear(f"s{index}", at_seconds=run.seconds)
        assert_tick(run.advance(), run)
        assert_steps(run)
