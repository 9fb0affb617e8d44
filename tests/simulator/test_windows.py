"""Window averages are exact, whether steps are shorter or longer than the window."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.device import DeviceModel
from simulator.presets import preset
from simulator.timeline import BACKWARD, FORWARD, Conditions, StepBlock, StepModel
from simulator.windows import integrate
from tests.simulator.jobs import run_with, small


def block(accumulation: int) -> StepBlock:
    spec = small(gradient_accumulation=accumulation)
    model = StepModel(spec, seed=1)
    ratio = np.full(4, spec.cluster.gpu.healthy_clock_ratio)
    waits = np.full((6, 4), 0.002)
    return model.steps(0, waits=waits, conditions=Conditions(ratio, run_with(spec).faults.effects(0.0)))


def brute_force(steps: StepBlock, begin: float, end: float) -> np.ndarray:
    """Overlap of every phase's interval with the window, one by one."""
    total = np.zeros(steps.phases.shape[1:])
    for start, phases in zip(steps.starts, steps.phases, strict=True):
        for rank in range(phases.shape[1]):
            at = start
            for phase, length in enumerate(phases[:, rank]):
                total[phase, rank] += max(0.0, min(at + length, end) - max(at, begin))
                at += length
    return total


@settings(max_examples=60, deadline=None)
@given(accumulation=st.sampled_from([1, 40]), begin=st.floats(0, 1), length=st.floats(0.001, 3))
def test_exact_seconds_equal_the_overlap_of_every_phase(accumulation: int, begin: float, length: float) -> None:
    steps = block(accumulation)
    window = integrate(steps, begin, begin + length)
    np.testing.assert_allclose(window.exact_seconds, brute_force(steps, begin, begin + length), atol=1e-9)
    inside = window.exact_seconds.sum(axis=0)
    np.testing.assert_allclose(window.accrued_seconds.sum(axis=0), inside, atol=1e-9)
    tensor = window.matmul_seconds
    computing = window.exact_seconds[FORWARD] + window.exact_seconds[BACKWARD]
    assert (tensor <= computing + 1e-12).all()


def test_windows_side_by_side_add_up_to_the_steps() -> None:
    steps = block(40)
    end = float(steps.starts[-1] + steps.durations[-1])
    edges = np.linspace(0.0, end, 38)
    windows = [integrate(steps, a, b) for a, b in pairwise(edges)]
    np.testing.assert_allclose(sum(w.exact_seconds for w in windows), steps.phases.sum(axis=0), atol=1e-12)
    np.testing.assert_allclose(sum(w.accrued_seconds for w in windows), steps.phases.sum(axis=0), rtol=1e-9)
    np.testing.assert_allclose(sum(w.kernel_seconds for w in windows), steps.kernel_seconds.sum(axis=0), rtol=1e-9)
    np.testing.assert_allclose(sum(w.steps for w in windows), len(steps), rtol=1e-9)


def test_a_step_longer_than_the_window_is_seen_in_its_phases_and_smooth_in_its_counters() -> None:
    spec = small(gradient_accumulation=200)
    run = run_with(spec)
    assert run.model.healthy_step_seconds > 3.0
    ticks = [run.advance() for _ in range(12)]
    busy = [float(tick.devices.tensor_active.mean()) for tick in ticks]
    assert max(busy) - min(busy) > 0.01
    shares = np.diff([tick.counters.phase_seconds[FORWARD].mean() for tick in ticks])
    assert shares.max() - shares.min() < 0.01
    assert ticks[0].counters.steps == 0
    assert ticks[-1].counters.steps == int(12 / (ticks[-1].counters.step_seconds_sum / ticks[-1].counters.steps))


def test_temperature_follows_power_and_the_clock_falls_off_a_cliff() -> None:
    hot_gpu = replace(preset("workshop-4gpu").cluster.gpu, kelvin_per_watt=0.2)
    spec = small(gpu=hot_gpu)
    run = run_with(spec)
    ticks = [run.advance() for _ in range(30)]
    last = ticks[-1]
    assert (last.devices.sm_clock_mhz < 500).all()
    assert (last.devices.throttle_reasons == 0x40).all()
    assert (last.counters.thermal_violation_seconds > 20).all()
    assert last.step_mfu < 0.5 * run_with(small()).advance().step_mfu
    assert (ticks[-1].devices.power_watts < 0.65 * ticks[0].devices.power_watts).all()


def test_energy_is_the_integral_of_power() -> None:
    run = run_with(small(), "straggler:ranks=1,slowdown=2")
    ticks = [run.advance() for _ in range(60)]
    integral = sum(tick.devices.power_watts for tick in ticks)
    np.testing.assert_allclose(ticks[-1].counters.energy_joules, integral, rtol=0.002)


def test_a_job_starts_warm() -> None:
    run = run_with(preset("workshop-4gpu"))
    first = run.advance().devices.temperature_celsius
    for _ in range(300):
        last = run.advance().devices.temperature_celsius
    np.testing.assert_allclose(first, last, atol=1.0)
    assert isinstance(run._devices, DeviceModel)
