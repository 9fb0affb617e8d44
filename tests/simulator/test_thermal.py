"""Boards that hold their own clocks down: failing cooling and a lowered power limit, against the same seed without."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from faults.parse import parse_fault
from simulator.gpus import A100_SXM
from simulator.observation import THROTTLE_HW_THERMAL, THROTTLE_SW_POWER_CAP
from simulator.presets import preset
from tests.simulator.jobs import small, workshop
from tests.simulator.watching import Watched, watch

WORKSHOP = preset("workshop-4gpu")
GPU = WORKSHOP.cluster.gpu
SECONDS = 240
CULPRIT, VICTIMS = 2, [0, 1, 3]


@cache
def seen(fault: str = "") -> Watched:
    return watch(WORKSHOP, *([fault] if fault else []), seconds=SECONDS)


def cooling(word: str) -> Watched:
    return seen(f"thermal_throttle:ranks={CULPRIT},intensity={word}")


def switches(watched: Watched) -> int:
    return int(np.abs(np.diff(watched.bits(THROTTLE_HW_THERMAL)[:, CULPRIT].astype(int))).sum())


def assert_a_straggler(watched: Watched) -> None:
    """What every slow rank does to a job, whatever made it slow."""
    healthy = seen()
    assert watched.mfu == pytest.approx(healthy.mfu * healthy.step_seconds / watched.step_seconds, rel=1e-6)
    assert (watched.mean("gpu_util_percent") >= 98.0).all()
    waits = watched.phase("collective_wait")
    assert int(waits.argmin()) == CULPRIT
    assert waits[VICTIMS].min() > 10 * waits[CULPRIT]
    assert (watched.mean("power_watts")[VICTIMS] < 0.9 * healthy.mean("power_watts")[VICTIMS]).all()
    # A slow clock does the same matrix products in as many cycles: the rate of work falls alike, on the victims the
    # share of cycles falls with it.
    rates = [seconds.readings["tensor_active"] * seconds.readings["sm_clock_mhz"] for seconds in (watched, healthy)]
    fallen = rates[0].mean(axis=0) / rates[1].mean(axis=0)
    assert fallen == pytest.approx(np.full(4, watched.mfu / healthy.mfu), rel=0.02)
    tensor = watched.mean("tensor_active") / healthy.mean("tensor_active")
    assert np.ptp(tensor[VICTIMS]) < 0.01
    assert tensor[CULPRIT] == pytest.approx(1.0, abs=0.1)


def test_mild_is_hot_and_no_more() -> None:
    mild, healthy = cooling("mild"), seen()
    assert mild.mean("temperature_celsius")[CULPRIT] > healthy.mean("temperature_celsius")[CULPRIT] + 10
    assert mild.readings["temperature_celsius"].max() < GPU.throttle_above_celsius
    assert not mild.readings["throttle_reasons"].any()
    assert mild.step_seconds == healthy.step_seconds
    np.testing.assert_array_equal(mild.readings["power_watts"], healthy.readings["power_watts"])


@pytest.mark.parametrize("word", ["moderate", "severe"])
def test_a_board_that_throttles_is_a_straggler_that_its_thermometer_names(word: str) -> None:
    watched, healthy = cooling(word), seen()
    assert_a_straggler(watched)
    assert watched.step_seconds > 1.3 * healthy.step_seconds
    hotter = watched.mean("temperature_celsius") - healthy.mean("temperature_celsius")
    assert hotter[CULPRIT] > 15
    assert (hotter[VICTIMS] < -4).all(), "waiting cools"
    assert watched.mean("sm_clock_mhz")[CULPRIT] < 0.75 * GPU.healthy_clock_mhz
    assert (watched.readings["sm_clock_mhz"][:, VICTIMS] == GPU.healthy_clock_mhz).all()
    assert not watched.bits(THROTTLE_HW_THERMAL)[:, VICTIMS].any()
    assert not watched.violations["thermal"][:, VICTIMS].any()
    assert not watched.bits(THROTTLE_SW_POWER_CAP).any()


@pytest.mark.parametrize("word", ["moderate", "severe"])
def test_throttle_bits_clocks_and_the_violation_counter_agree(word: str) -> None:
    watched = cooling(word)
    held = watched.bits(THROTTLE_HW_THERMAL)[:, CULPRIT]
    grown = np.diff(watched.violations["thermal"][:, CULPRIT], prepend=0.0)
    np.testing.assert_array_equal(grown, held.astype(float))
    slow = watched.readings["sm_clock_mhz"][:, CULPRIT] < GPU.healthy_clock_mhz
    np.testing.assert_array_equal(slow, held)
    assert watched.readings["sm_clock_mhz"][held, CULPRIT] == pytest.approx(
        GPU.throttle_clock_ratio * GPU.peak_clock_mhz
    )


def test_moderate_cycles_between_the_two_limits() -> None:
    watched = cooling("moderate")
    assert switches(watched) >= 4
    celsius = watched.readings["temperature_celsius"][60:, CULPRIT]
    assert GPU.throttle_above_celsius <= celsius.max() < GPU.throttle_above_celsius + 1.5
    assert GPU.throttle_until_celsius - 1.5 < celsius.min() <= GPU.throttle_until_celsius


@pytest.mark.parametrize("rank", range(4))
@pytest.mark.parametrize("seed", range(3))
def test_severe_latches_within_half_a_minute(seed: int, rank: int) -> None:
    watched = watch(WORKSHOP, f"thermal_throttle:ranks={rank}", seconds=90, seed=seed)
    held = watched.bits(THROTTLE_HW_THERMAL)[:, rank]
    first = int(held.argmax())
    assert 5 <= first <= 30
    assert held[first:].all()


def test_the_same_on_the_large_job() -> None:
    job = preset("honest-64xh100")
    for word, switched in (("mild", 0), ("severe", 1)):
        held = watch(job, f"thermal_throttle:ranks=9,intensity={word}", seconds=200).bits(THROTTLE_HW_THERMAL)[:, 9]
        assert int(np.abs(np.diff(held.astype(int))).sum()) == switched
    assert held.argmax() <= 30
    cycling = watch(job, "thermal_throttle:ranks=9,intensity=moderate", seconds=400)
    held = cycling.bits(THROTTLE_HW_THERMAL)[:, 9]
    assert np.abs(np.diff(held.astype(int))).sum() >= 4
    assert int(cycling.phase("collective_wait").argmin()) == 9
    assert (cycling.mean("gpu_util_percent") >= 98.0).all()


def test_a_lowered_power_limit_is_a_mild_straggler_that_its_power_names() -> None:
    watched, healthy = seen(f"power_cap:ranks={CULPRIT}"), seen()
    assert_a_straggler(watched)
    assert 1.1 < watched.step_seconds / healthy.step_seconds < 1.4
    settled = watched.readings["power_watts"][10:, CULPRIT]
    assert settled == pytest.approx(np.full(len(settled), 500.0), rel=0.01)
    assert (watched.readings["sm_clock_mhz"][:, CULPRIT] < 0.85 * GPU.healthy_clock_mhz).all()
    assert (watched.readings["sm_clock_mhz"][:, VICTIMS] == GPU.healthy_clock_mhz).all()
    capped = watched.bits(THROTTLE_SW_POWER_CAP)
    assert capped[:, CULPRIT].all()
    assert not capped[:, VICTIMS].any()
    np.testing.assert_array_equal(watched.violations["power"][:, CULPRIT], np.arange(1.0, SECONDS + 1))
    assert not watched.violations["power"][:, VICTIMS].any()
    assert not watched.violations["thermal"].any()
    cooler = healthy.mean("temperature_celsius") - watched.mean("temperature_celsius")
    assert (cooler > 2).all()


@pytest.mark.parametrize(("intensity", "watts"), [(0.25, 650), (0.5, 600), (0.75, 550)])
def test_power_follows_the_limit_down(intensity: float, watts: float) -> None:
    watched = watch(WORKSHOP, f"power_cap:ranks={CULPRIT},intensity={intensity}", seconds=60)
    assert watched.readings["power_watts"][20:, CULPRIT].mean() == pytest.approx(watts, rel=0.02)


def test_the_board_limit_is_that_of_the_jobs_own_gpu() -> None:
    run = workshop(f"power_cap:ranks={CULPRIT},intensity=moderate")
    assert run.topology.board_watts == GPU.tdp_watts
    watched = watch(small(gpu=A100_SXM), "power_cap:ranks=1,limit_watts=350", seconds=60)
    assert watched.readings["power_watts"][20:, 1].mean() == pytest.approx(350, rel=0.02)


@pytest.mark.parametrize("fault", ["thermal_throttle:ranks=2", "power_cap:ranks=2,limit_watts=400"])
def test_cleared_equals_never_injected_once_the_boards_have_cooled(fault: str) -> None:
    broken, calm = workshop(seed=5), workshop(seed=5)
    broken.faults.put("f", parse_fault(fault), at_seconds=0.0, next_step=0)
    phases: dict[str, dict[int, np.ndarray]] = {"broken": {}, "calm": {}}
    for second in range(420):
        if second == 40:
            broken.faults.clear("f", at_seconds=broken.seconds)
        for name, run in (("broken", broken), ("calm", calm)):
            tick = run.advance()
            if second >= 120:
                phases[name] |= {block.first_step: block.phases[0] for block, _ in run.ended}
            if second == 419:
                celsius = tick.devices.temperature_celsius
                assert celsius == pytest.approx(np.full(4, 60.0), abs=3)
    shared = sorted(phases["broken"].keys() & phases["calm"].keys())
    assert len(shared) > 500
    for step in shared:
        np.testing.assert_array_equal(phases["broken"][step], phases["calm"][step])
