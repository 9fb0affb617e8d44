"""What the model learns: quiet runs, explosions, divergence, loss scaling, and the way back."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from faults.effects import Effects, Instability, Topology
from simulator.job import JobSpec
from simulator.learning import LearnedStep, LearningModel
from simulator.presets import preset

WORKSHOP = preset("workshop-4gpu")
CAUSE = Instability("f", 4, 1.0, 3_000.0, 5)


def learn(model: LearningModel, first: int, count: int, *causes: Instability) -> list[LearnedStep]:
    effects = Effects.neutral(Topology(WORKSHOP.ranks, WORKSHOP.ranks))
    effects.instabilities += causes
    return [model.step(index, effects) for index in range(first, first + count)]


def with_training(**changes: object) -> JobSpec:
    return replace(WORKSHOP, training=replace(WORKSHOP.training, **changes))  # type: ignore[arg-type]


def norms(steps: list[LearnedStep]) -> np.ndarray:
    return np.array([step.values.grad_norm for step in steps])


def losses(steps: list[LearnedStep]) -> np.ndarray:
    return np.array([step.values.loss for step in steps])


def test_a_quiet_run_has_a_level_norm_rare_harmless_spikes_and_a_falling_loss() -> None:
    steps = learn(LearningModel(WORKSHOP, seed=1), 0, 6_000)
    quiet = norms(steps)
    assert 0.22 <= np.median(quiet) <= 0.28
    body = np.log(quiet[quiet < 1.4 * np.median(quiet)])
    assert 0.06 <= body.std() <= 0.12
    high = quiet > 1.5 * np.median(quiet)
    starts = int((high[1:] & ~high[:-1]).sum())
    assert 4 <= starts <= 40
    assert quiet.max() < 10 * np.median(quiet)
    assert sum(step.spike for step in steps) == 0
    assert losses(steps)[:1500].mean() > losses(steps)[-1500:].mean()


def test_an_explosion_grows_over_five_steps_and_the_loss_follows() -> None:
    quiet, wild = LearningModel(WORKSHOP, seed=2), LearningModel(WORKSHOP, seed=2)
    learn(quiet, 0, 50)
    learn(wild, 0, 50)
    without, within = learn(quiet, 50, 60), learn(wild, 50, 60, CAUSE)
    factor = norms(within) / norms(without)
    assert 1_000 <= factor[:6].max() <= 5_000
    growth = factor[:5] / np.concatenate(([1.0], factor[:4]))
    assert ((growth >= 2.5) & (growth <= 10.0)).all()
    assert (factor[5:] >= 100.0).all()
    excess = losses(within) - losses(without)
    first_norm, first_loss = int(np.argmax(factor > 3.0)), int(np.argmax(excess > 0.3))
    assert first_norm < first_loss <= 6
    assert sum(step.spike for step in within) >= 55, "a long explosion stays one in the spikes counter"


def test_it_decays_over_twenty_to_forty_steps_once_the_cause_is_gone() -> None:
    quiet, wild = LearningModel(WORKSHOP, seed=2), LearningModel(WORKSHOP, seed=2)
    learn(quiet, 0, 40)
    learn(wild, 0, 40, CAUSE)
    without, after = learn(quiet, 40, 80), learn(wild, 40, 80)
    factor = norms(after) / norms(without)
    gone = int(np.argmax(factor < 1.001))
    assert 18 <= gone <= 42
    assert abs(losses(after)[-1] - losses(without)[-1]) < 0.01


@pytest.mark.parametrize("intensity", [0.25, 0.5, 1.0])
def test_intensity_scales_the_peak(intensity: float) -> None:
    quiet, wild = LearningModel(WORKSHOP, seed=2), LearningModel(WORKSHOP, seed=2)
    cause = replace(CAUSE, intensity=intensity)
    factor = norms(learn(wild, 0, 30, cause)) / norms(learn(quiet, 0, 30))
    assert factor.max() == pytest.approx(1 + 2_999 * intensity, rel=0.01)
    assert factor[5:].min() >= 100.0


def test_two_instabilities_are_as_bad_as_the_worse_one() -> None:
    milder = replace(CAUSE, fault="g", intensity=0.1)
    one, both = LearningModel(WORKSHOP, seed=2), LearningModel(WORKSHOP, seed=2)
    np.testing.assert_array_equal(norms(learn(one, 0, 5, CAUSE)), norms(learn(both, 0, 5, milder, CAUSE)))


def test_without_clipping_it_ends_in_nan_until_the_checkpoint_is_restored() -> None:
    model = LearningModel(with_training(clip_norm=None), seed=2)
    learn(model, 0, 20)
    model.save_checkpoint()
    wild = learn(model, 20, 30, CAUSE)
    assert math.isfinite(wild[4].values.loss)
    assert math.isnan(wild[-1].values.loss)
    assert wild[-1].nonfinite
    assert math.isnan(learn(model, 50, 30)[-1].values.grad_norm), "clearing the cause alone does not help"
    model.restore_checkpoint()
    after = learn(model, 80, 10)
    assert np.isfinite(losses(after)).all()
    assert norms(after).max() < 3.0


def test_fp16_skips_overflowing_steps_and_halves_the_loss_scale() -> None:
    model = LearningModel(with_training(precision="fp16"), seed=2)
    assert learn(model, 0, 5)[-1].values.loss_scale == 65_536.0
    wild = learn(model, 5, 30, CAUSE)
    skipped = sum(step.skipped for step in wild)
    assert skipped >= 4
    assert wild[-1].values.loss_scale == 65_536.0 / 2**skipped
    assert not any(step.skipped for step in learn(LearningModel(WORKSHOP, seed=2), 0, 30, CAUSE))


def test_the_learning_rate_warms_up_and_falls_to_a_tenth() -> None:
    def rate(start: int) -> float:
        return LearningModel(with_training(start_step=start), seed=1).learning_rate

    assert rate(0) < rate(1_000) < rate(2_000) == pytest.approx(3e-4)
    assert rate(100_000) == pytest.approx(3e-5)
    assert rate(50_000) > rate(90_000)
