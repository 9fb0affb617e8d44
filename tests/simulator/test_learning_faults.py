"""Faults of the learning: the learning series move, and nothing else does."""

from __future__ import annotations

import math
from dataclasses import fields

import numpy as np
import pytest

from faults.errors import FaultError
from faults.parse import parse_fault
from simulator.headless import start
from simulator.job import JobSpec
from simulator.observation import Tick
from simulator.presets import PRESETS, preset
from simulator.run import Run
from tests.simulator.jobs import run_with, small

FRAGILE = preset("fragile-4gpu")
LEARNED = ("checkpoints", "nonfinite_steps", "skipped_steps", "grad_norm_spikes")
"""Counters of what was learned."""


def pair(spec: JobSpec, fault: str) -> tuple[Run, Run]:
    """The same run without and with a fault."""
    return run_with(spec), run_with(spec, fault)


def nothing_else_moved(healthy: Tick, seen: Tick) -> None:
    for part in ("devices", "counters"):
        for field in fields(getattr(healthy, part)):
            if field.name not in LEARNED:
                before, after = (getattr(getattr(tick, part), field.name) for tick in (healthy, seen))
                np.testing.assert_array_equal(after, before, err_msg=field.name)
    assert (seen.step_mfu, seen.step_seconds) == (healthy.step_mfu, healthy.step_seconds)
    np.testing.assert_array_equal(seen.queue_batches, healthy.queue_batches)


@pytest.mark.parametrize(
    ("spec", "fault"),
    [
        (preset("workshop-4gpu"), "loss_plateau"),
        (preset("workshop-4gpu"), "nan_loss"),
        (FRAGILE, "loss_scale_collapse"),
        (FRAGILE, "nan_loss"),
    ],
    ids=lambda value: value if isinstance(value, str) else value.preset,
)
def test_devices_and_the_speed_of_the_job_are_untouched(spec: JobSpec, fault: str) -> None:
    calm, broken = pair(spec, fault)
    for _ in range(60):
        nothing_else_moved(calm.advance(), broken.advance())


@pytest.mark.parametrize(("word", "factor"), [("mild", 0.75025), ("moderate", 0.5005), ("severe", 0.001)])
def test_learning_goes_on_at_the_share_of_its_rate(word: str, factor: float) -> None:
    calm, broken = pair(small(), f"loss_plateau:intensity={word}")
    first, second = ([run.advance() for _ in range(120)] for run in (calm, broken))
    for before, after in zip(first, second, strict=True):
        assert after.learning.learning_rate == pytest.approx(factor * before.learning.learning_rate)
        assert after.learning.grad_norm == pytest.approx(before.learning.grad_norm, rel=0.1)
    lost = [after.learning.loss - before.learning.loss for before, after in zip(first, second, strict=True)]
    assert (np.diff(lost) > -1e-12).all(), "what is not learned adds up"
    begun, steps = calm.spec.training.start_step, second[-1].counters.steps - 1
    law = [410.7 / ((begun + share * steps) * calm.spec.tokens_per_step) ** 0.28 for share in (1.0, factor)]
    assert lost[-1] == pytest.approx(law[1] - law[0], rel=1e-6), "arXiv 2203.15556, eq. 10"


def test_what_was_not_learned_is_missing_when_the_rate_is_back() -> None:
    calm, broken = run_with(small()), run_with(small())
    broken.faults.put("f", parse_fault("loss_plateau"), at_seconds=0.0, next_step=0)
    for _ in range(60):
        calm.advance()
        broken.advance()
    broken.faults.clear("f", at_seconds=broken.seconds)
    for _ in range(30):
        before, after = calm.advance(), broken.advance()
        missing = after.learning.loss - before.learning.loss
    assert after.learning.learning_rate == before.learning.learning_rate
    assert missing > 0.0
    nothing_else_moved(before, after)


def test_one_nan_is_enough_and_only_a_checkpoint_helps() -> None:
    run = run_with(small(checkpoint_every_steps=20))
    [run.advance() for _ in range(5)]
    run.faults.put("f", parse_fault("nan_loss"), at_seconds=run.seconds, next_step=run.next_step)
    ticks = [run.advance() for _ in range(10)]
    assert all(math.isnan(value) for value in (ticks[-1].learning.loss, ticks[-1].learning.grad_norm))
    run.faults.clear("f", at_seconds=run.seconds, immediate=True)
    after = [run.advance() for _ in range(10)]
    assert all(math.isnan(tick.learning.loss) for tick in after)
    steps = after[-1].counters.steps - ticks[-1].counters.steps
    assert after[-1].counters.nonfinite_steps - ticks[-1].counters.nonfinite_steps == steps
    run.restore_checkpoint()
    healed = [run.advance() for _ in range(3)][-1]
    assert math.isfinite(healed.learning.loss)
    assert math.isfinite(healed.learning.grad_norm)


def test_the_loss_is_healthy_until_the_step_that_meets_it() -> None:
    calm, broken = pair(small(), "nan_loss:chance=0.01")
    losses: tuple[list[float], list[float]] = [], []
    for _ in range(20):
        for found, run in zip(losses, (calm, broken), strict=True):
            run.advance()
            found += [learned.values.loss for _, learned in run.ended]
    lost = [math.isnan(loss) for loss in losses[1]]
    first = lost.index(True)
    assert 5 < first < 400
    assert all(lost[first:])
    assert losses[1][:first] == losses[0][:first]


@pytest.mark.parametrize(("word", "rate"), [("mild", 0.05), ("severe", 0.2)])
def test_intensity_says_how_soon(word: str, rate: float) -> None:
    firsts = []
    for seed in range(40):
        run = start(small(), seed=seed, faults=[parse_fault(f"nan_loss:intensity={word}")])
        steps: list[bool] = []
        while not any(steps):
            run.advance()
            steps += [learned.nonfinite for _, learned in run.ended]
        firsts.append(steps.index(True) + 1)
    assert np.mean(firsts) == pytest.approx(1 / rate, rel=0.4)


def test_the_loss_scale_halves_to_one_and_every_step_is_skipped() -> None:
    calm, broken = pair(FRAGILE, "loss_scale_collapse")
    for _ in range(30):
        before, after = calm.advance(), broken.advance()
    assert (before.learning.loss_scale, before.counters.skipped_steps) == (65_536.0, 0)
    assert after.learning.loss_scale == 1.0
    assert after.counters.skipped_steps == after.counters.steps
    assert after.counters.nonfinite_steps == after.counters.grad_norm_spikes == 0
    assert after.learning.grad_norm == pytest.approx(before.learning.grad_norm, rel=0.01)
    assert after.learning.loss > before.learning.loss, "nothing is learned from a step that is skipped"


@pytest.mark.parametrize(("word", "low", "high"), [("mild", 8_192, 32_768), ("moderate", 64, 512)])
def test_milder_overflow_settles_where_values_fit_again(word: str, low: float, high: float) -> None:
    run = run_with(FRAGILE, f"loss_scale_collapse:intensity={word}")
    ticks = [run.advance() for _ in range(120)]
    assert low <= ticks[-1].learning.loss_scale <= high
    skipped = [tick.counters.skipped_steps for tick in ticks]
    assert 0 < skipped[-1] < 16
    assert skipped[-1] - skipped[30] <= 2


def test_the_scale_grows_back_once_values_fit() -> None:
    run = run_with(FRAGILE)
    run.faults.put("f", parse_fault("loss_scale_collapse:intensity=mild"), at_seconds=0.0, next_step=0)
    low = [run.advance() for _ in range(30)][-1].learning.loss_scale
    run.faults.clear("f", at_seconds=run.seconds)
    ticks = [run.advance() for _ in range(600)]
    assert low < ticks[-1].learning.loss_scale
    assert ticks[-1].counters.skipped_steps == ticks[0].counters.skipped_steps


@pytest.mark.parametrize("name", [name for name, spec in PRESETS.items() if spec.training.precision != "fp16"])
def test_a_job_that_does_not_train_in_fp16_says_why_not(name: str) -> None:
    with pytest.raises(FaultError, match="needs a job that scales its loss, and this one does not train in fp16"):
        start(preset(name), seed=1, faults=[parse_fault("loss_scale_collapse")])
