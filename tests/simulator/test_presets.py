"""Each preset reproduces what it is there for."""

from __future__ import annotations

import math

import numpy as np
import pytest

from faults.parse import parse_fault
from simulator.headless import simulate
from simulator.presets import PRESETS, preset
from tests.simulator.jobs import run_with


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_workshop_is_a_healthy_job(seed: int) -> None:
    seen = simulate(preset("workshop-4gpu"), steps=500, seed=seed)
    assert 0.1 <= seen["step_seconds"]["mean"] <= 0.35
    assert 0.40 <= seen["mfu"] <= 0.45
    for rank in seen["ranks"]:
        assert rank["gpu_util"] >= 99.5
        assert 0.86 <= rank["sm_active"] <= 0.93
        assert 0.42 <= rank["tensor_active"] <= 0.48
        assert 630.0 <= rank["power_watts"] <= 670.0
        assert 45.0 <= rank["temperature_celsius"] <= 70.0
        assert rank["sm_clock_mhz"] == 1755.0
    assert seen["warnings"] == []


def test_anatomy_lays_out_a_42_millisecond_step() -> None:
    seen = simulate(preset("anatomy-32gpu"), steps=400, seed=1)
    assert seen["step_seconds"]["mean"] == pytest.approx(0.042, abs=0.0005)
    for rank in seen["ranks"]:
        seconds = rank["phases"]
        ends = np.cumsum(
            [
                seconds["data_wait"] + seconds["h2d"],
                seconds["forward"],
                seconds["backward"],
                seconds["collective_wait"] + seconds["collective"] + seconds["optimizer"],
            ]
        )
        np.testing.assert_allclose(ends, [0.008, 0.016, 0.028, 0.042], atol=0.0005)


def test_trap_87_shows_87_percent_while_a_fifth_of_the_step_computes() -> None:
    seen = simulate(preset("trap-87"), steps=600, seed=1)
    shares = seen["phases"]
    assert np.mean([rank["gpu_util"] for rank in seen["ranks"]]) == pytest.approx(87.0, abs=1.0)
    assert shares["forward"] + shares["backward"] == pytest.approx(0.19, abs=0.01)
    assert shares["collective_wait"] + shares["collective"] == pytest.approx(0.43, abs=0.01)
    assert shares["data_wait"] + shares["h2d"] == pytest.approx(0.13, abs=0.01)
    assert shares["optimizer"] == pytest.approx(0.25, abs=0.01)
    assert any("constructed" in warning for warning in seen["warnings"])


@pytest.mark.parametrize("name", sorted(PRESETS))
def test_every_preset_loads_runs_and_names_its_gpus_uniquely(name: str) -> None:
    run = run_with(preset(name))
    tick = run.advance()
    assert tick.info.preset == name
    assert len({gpu.uuid for gpu in tick.info.gpus}) == tick.info.ranks
    assert len({(gpu.node, gpu.pci_bus_id) for gpu in tick.info.gpus}) == tick.info.ranks
    assert tick.info.framebuffer_used_mib + tick.info.framebuffer_reserved_mib < tick.info.framebuffer_total_mib


def test_an_unknown_preset_names_the_valid_ones() -> None:
    with pytest.raises(
        ValueError, match="preset: 'x' is not one of workshop-4gpu, fragile-4gpu, anatomy-32gpu, trap-87"
    ):
        preset("x")


def test_fragile_ends_in_nan_by_way_of_skipped_steps_and_a_reset_saves_it() -> None:
    run = run_with(preset("fragile-4gpu"))
    run.advance()
    run.faults.put("boom", parse_fault("gradient_explosion"), at_seconds=run.seconds, next_step=run.next_step)
    ticks = [run.advance() for _ in range(20)]
    scales = [tick.learning.loss_scale for tick in ticks]
    assert scales[-1] < scales[0] / 8
    assert ticks[-1].counters.skipped_steps >= 4
    assert math.isnan(ticks[-1].learning.loss)
    assert ticks[-1].counters.nonfinite_steps > 0
    assert ticks[-1].step_mfu == pytest.approx(ticks[0].step_mfu, rel=0.02)
    run.faults.clear("boom", at_seconds=run.seconds, immediate=True)
    run.restore_checkpoint()
    assert math.isfinite([run.advance() for _ in range(3)][-1].learning.loss)


def test_large_presets_say_how_they_are_spread() -> None:
    assert run_with(preset("honest-64xh100")).info.strategy == "fsdp"
    assert preset("llama3-405b-16k").strategy_label == "zero1-tp8-pp16"
    assert preset("workshop-4gpu").strategy_label == "ddp"


@pytest.mark.parametrize("name", ["anatomy-32gpu", "trap-87", "workshop-4gpu"])
def test_a_late_batch_costs_what_it_says_on_every_preset(name: str) -> None:
    spec = preset(name)
    healthy = simulate(spec, steps=60, seed=1)["step_seconds"]["mean"]
    late = simulate(spec, steps=400, seed=1, faults=[parse_fault("io_starvation:mode=uniform,lateness_steps=0.5")])
    assert late["step_seconds"]["p50"] == pytest.approx(1.5 * healthy, rel=0.02)
