"""The identities of the step model, on every step and under every mix of faults."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from faults.parse import parse_fault
from simulator import run as run_module
from simulator.headless import simulate
from simulator.job import JobSpec
from simulator.observation import Tick
from simulator.presets import PRESETS, preset
from simulator.run import Run
from tests.simulator.jobs import FAULTS, jobs, run_with, small

mixes = st.lists(st.sampled_from(FAULTS), max_size=4, unique=True)


def assert_tick(tick: Tick, run: Run) -> None:
    devices, counters = tick.devices, tick.counters
    grown = counters.phase_seconds.sum(axis=0)
    np.testing.assert_allclose(grown, tick.seconds, rtol=1e-9)
    tolerance = 1e-12
    for low, high in (
        (devices.tensor_active, devices.sm_active),
        (devices.sm_active, devices.gr_engine_active),
        (devices.sm_occupancy, devices.sm_active),
    ):
        assert (low <= high + tolerance).all()
    assert (devices.gr_engine_active <= 1.0 + tolerance).all()
    assert (devices.gpu_util_percent >= 0.0).all()
    assert (devices.gpu_util_percent <= 100.0).all()
    assert (devices.power_watts >= run.spec.cluster.gpu.idle.watts - 1e-9).all()
    assert (devices.power_watts <= run.spec.cluster.gpu.tdp_watts).all()
    assert (counters.collective_seconds <= tick.seconds + tolerance).all()
    assert counters.step_seconds_buckets[-1] == counters.steps
    assert (np.diff(counters.step_seconds_buckets) >= 0).all()


def assert_steps(run: Run) -> None:
    for block, _ in run.ended:
        off = np.abs(block.phases.sum(axis=1) - block.durations[:, None])
        assert (off <= 1e-9 * block.durations[:, None]).all()
        assert (block.phases >= 0.0).all()
        assert (block.kernel_seconds >= 0.0).all()


@settings(max_examples=60, deadline=None)
@given(spec=jobs(), faults=mixes, seed=st.integers(0, 2**32 - 1))
def test_phases_add_up_and_mfu_agrees_with_the_counters(spec: JobSpec, faults: list[str], seed: int) -> None:
    run = run_with(spec, *faults, seed=seed)
    seconds: list[float] = []
    for _ in range(4):
        tick = run.advance()
        assert_tick(tick, run)
        assert_steps(run)
        seconds += [float(block.durations[0]) for block, _ in run.ended]
    counters = tick.counters
    assert counters.steps == len(seconds)
    if seconds:
        peak = run.info.peak_flops_per_second
        from_counters = counters.model_flops / counters.step_seconds_sum / peak
        from_steps = spec.tokens_per_step * spec.flops_per_token / (math.fsum(seconds) / len(seconds)) / peak
        assert from_counters == pytest.approx(from_steps, rel=1e-6)


@settings(max_examples=20, deadline=None)
@given(spec=jobs(), faults=mixes)
def test_the_result_does_not_depend_on_how_many_steps_are_computed_at_once(spec: JobSpec, faults: list[str]) -> None:
    many, single = run_with(spec, *faults), run_with(spec, *faults)
    for _ in range(3):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(run_module, "_MOST_STEPS_AT_ONCE", 1)
            one = single.advance()
        other = many.advance()
        assert one.counters.steps == other.counters.steps
        # Only the order of sums may differ.
        np.testing.assert_allclose(one.devices.power_watts, other.devices.power_watts, rtol=1e-12)
        np.testing.assert_allclose(one.counters.phase_seconds, other.counters.phase_seconds, rtol=1e-12, atol=1e-15)
        assert one.learning == other.learning or math.isnan(one.learning.loss)


@settings(max_examples=15, deadline=None)
@given(faults=st.permutations(FAULTS))
def test_injection_order_does_not_matter(faults: list[str]) -> None:
    spec = small()
    outcomes = []
    for order in (FAULTS, faults):
        run = run_with(spec)
        for text in order:
            run.faults.put(f"f{FAULTS.index(text)}", parse_fault(text), at_seconds=0.0, next_step=0)
        ticks = [run.advance() for _ in range(3)]
        outcomes.append((ticks[-1].counters.phase_seconds, ticks[-1].devices.power_watts, ticks[-1].learning))
    np.testing.assert_array_equal(outcomes[0][0], outcomes[1][0])
    np.testing.assert_array_equal(outcomes[0][1], outcomes[1][1])
    assert repr(outcomes[0][2]) == repr(outcomes[1][2]), "as text, since a NaN differs from itself"


@pytest.mark.parametrize("name", sorted(PRESETS))
def test_the_same_seed_gives_the_same_summary(name: str) -> None:
    faults = [parse_fault(text) for text in ("io_starvation:mode=tail", "straggler:ranks=1", "gradient_explosion")]
    steps = 60 if preset(name).ranks <= 64 else 1
    first, second = (json.dumps(simulate(preset(name), steps=steps, seed=7, faults=faults)) for _ in range(2))
    assert first == second


def test_another_seed_gives_another_summary() -> None:
    first, other = (json.dumps(simulate(small(), steps=20, seed=seed)) for seed in (7, 8))
    assert first != other


def test_tensor_activity_is_the_hardware_flops_done() -> None:
    for faults in ((), ("straggler:ranks=1,slowdown=2",), ("io_starvation:mode=uniform",)):
        spec = small(recompute=True)
        run = run_with(spec, *faults)
        gpu = spec.cluster.gpu
        done_before = 0.0
        for _ in range(5):
            tick = run.advance()
            shown = tick.devices.tensor_active.sum() * spec.peak_flops_per_rank * gpu.healthy_clock_ratio
            # Counters move at the end of a step: add what the step in progress has done, subtract what it had.
            running = run._running[0]
            share = (tick.seconds - running.starts[0]) / running.durations[0]
            done = tick.counters.hardware_flops + share * spec.tokens_per_step * spec.hardware_flops_per_token
            assert shown == pytest.approx(done - done_before, rel=0.02)
            done_before = done


def test_ticks_cannot_be_changed_by_their_readers() -> None:
    tick = run_with(small()).advance()
    for array in (tick.devices.power_watts, tick.counters.phase_seconds, tick.counters.step_seconds_buckets):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
