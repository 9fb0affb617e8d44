"""Summaries of headless runs, predictions, and the streams that they draw from."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from faults.errors import FaultError
from faults.parse import parse_fault
from simulator.headless import simulate
from simulator.job import mfu_warnings
from simulator.names import PHASES
from simulator.predict import predict
from simulator.presets import preset
from simulator.streams import StepStream, stable_key, uniform_rows
from tests.simulator.jobs import small

WORKSHOP = preset("workshop-4gpu")


def test_the_summary_has_the_promised_keys_and_is_plain_json() -> None:
    seen = simulate(WORKSHOP, steps=30, seed=1)
    assert set(seen) == {
        "preset", "seed", "steps", "step_seconds", "tokens_per_second_per_gpu", "mfu", "hfu", "phases", "ranks",
        "loss", "grad_norm", "warnings",
    }  # fmt: skip
    assert set(seen["step_seconds"]) == {"mean", "p50", "p99", "max"}
    assert set(seen["ranks"][0]) == {
        "rank", "phases", "gpu_util", "sm_active", "sm_occupancy", "tensor_active", "dram_active", "power_watts",
        "temperature_celsius", "sm_clock_mhz",
    }  # fmt: skip
    assert tuple(seen["phases"]) == PHASES
    assert sum(seen["phases"].values()) == pytest.approx(1.0, rel=1e-9)
    assert sum(seen["ranks"][3]["phases"].values()) == pytest.approx(seen["step_seconds"]["mean"], rel=1e-9)
    assert json.loads(json.dumps(seen, allow_nan=False)) == seen


def test_mfu_and_tokens_belong_together() -> None:
    seen = simulate(WORKSHOP, steps=30, seed=1)
    rate = seen["tokens_per_second_per_gpu"]
    assert seen["mfu"] == pytest.approx(rate * WORKSHOP.flops_per_token / 989e12, rel=1e-9)
    assert seen["hfu"] == seen["mfu"]
    recomputing = simulate(small(recompute=True), steps=30, seed=1)
    assert recomputing["hfu"] == pytest.approx(recomputing["mfu"] * 4 / 3)


def test_values_that_are_not_finite_are_null() -> None:
    diverging = replace(WORKSHOP, training=replace(WORKSHOP.training, clip_norm=None))
    seen = simulate(diverging, steps=60, seed=1, faults=[parse_fault("gradient_explosion")])
    assert seen["loss"]["last"] is None
    assert seen["loss"]["max"] > 5.0
    assert seen["grad_norm"]["last"] is None


def test_an_mfu_that_the_hardware_cannot_reach_is_said() -> None:
    boasting = replace(WORKSHOP, training=replace(WORKSHOP.training, compute_efficiency=0.99))
    seen = simulate(boasting, steps=20, seed=1)
    assert any("matrix product" in warning for warning in seen["warnings"])
    assert "above 1" in mfu_warnings(1.2, WORKSHOP)[0]
    assert mfu_warnings(0.45, WORKSHOP) == ()


@pytest.mark.parametrize("steps", [0, -3])
def test_no_steps_is_an_error_that_names_the_key(steps: int) -> None:
    with pytest.raises(ValueError, match="steps"):
        simulate(WORKSHOP, steps=steps, seed=1)


def test_a_fault_that_does_not_fit_the_job_is_refused() -> None:
    with pytest.raises(FaultError, match="0 to 3"):
        simulate(WORKSHOP, steps=10, seed=1, faults=[parse_fault("straggler:ranks=9")])


def test_progress_is_told() -> None:
    told: list[tuple[int, int]] = []
    simulate(WORKSHOP, steps=20, seed=1, progress=lambda done, asked: told.append((done, asked)))
    assert told[-1] == (20, 20)
    assert [done for done, _ in told] == sorted(done for done, _ in told)


@pytest.mark.parametrize(
    "fault",
    ["straggler:ranks=2,slowdown=1.5", "io_starvation:mode=tail", "io_starvation:mode=uniform,intensity=mild"],
)
def test_a_prediction_is_what_then_happens(fault: str) -> None:
    expected = predict(WORKSHOP, parse_fault(fault), seed=4)
    seen = simulate(WORKSHOP, steps=1_000, seed=4, faults=[parse_fault(fault)])
    assert expected.step_seconds.after == pytest.approx(seen["step_seconds"]["mean"], rel=0.03)
    assert expected.mfu.after == pytest.approx(seen["mfu"], rel=0.03)


def test_streams_do_not_depend_on_how_they_are_read() -> None:
    def stream() -> StepStream:
        return StepStream(1, "x", width=300, draw=uniform_rows)

    at_once = stream().rows(0, 700)
    one_by_one = stream()
    singly = np.concatenate([one_by_one.rows(step, 1) for step in range(700)])
    np.testing.assert_array_equal(at_once, singly)
    assert not np.array_equal(at_once, StepStream(2, "x", width=300, draw=uniform_rows).rows(0, 700))
    assert stable_key("a", 1) == stable_key("a", 1) != stable_key("a", 2)
