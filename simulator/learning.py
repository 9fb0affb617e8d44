"""What the model learns, step by step: loss, gradient norm, learning rate, loss scale.

Loss follows the Chinchilla law `E + A/N^a + B/D^b` (arXiv 2203.15556, eq. 10) with step noise measured in the llm.c
GPT-2 log (0.043 at a 0.5 M token batch). The gradient norm before clipping is a slowly falling baseline (0.26 at
step 10,000 of the same log) with log-AR(1) noise and harmless spikes. Instability grows as in the BLOOM chronicles:
five steps to some thousand times the baseline, the loss one or two steps behind, step time untouched.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from faults.effects import Effects, Instability, Poison
from simulator.job import JobSpec
from simulator.observation import Learning
from simulator.spikes import MEDIAN_STEPS, Spikes
from simulator.streams import FaultStreams, StepStream, generator, uniform_rows

_E, _A, _B, _ALPHA, _BETA = 1.69, 406.4, 410.7, 0.34, 0.28
_LOSS_NOISE, _LOSS_NOISE_TOKENS = 0.043, 0.5e6
_NORM_BASELINE, _NORM_STEP, _NORM_DECAY = 0.26, 10_000, 0.2
_NORM_NOISE, _NORM_CORRELATION = 0.09, 0.8
_SPIKE_RATE, _SPIKE_LOW, _SPIKE_HIGH, _SPIKE_STEPS = 1.0 / 340.0, 1.5, 7.0, 3
_LEAST_UNSTABLE_FACTOR = 120.0
_DECAY_STEPS_LOW, _DECAY_STEPS_HIGH = 20, 40
_LOSS_FOLLOWS_ABOVE = 30.0
_LOSS_PER_DECADE, _LOSS_KEPT = 1.5, 0.82
_STEPS_TO_NAN = 8
_FP16_FIRST_SCALE, _FP16_OVERFLOW, _FP16_GOOD_STEPS = 65_536.0, 1e6, 1_000


@dataclass(frozen=True, slots=True)
class LearnedStep:
    """What one step left behind."""

    values: Learning
    nonfinite: bool
    skipped: bool
    """The optimizer did not step (fp16 overflow)."""
    spike: bool


class _Excess:
    """How far one instability has driven the gradients: log of the factor on the norm."""

    def __init__(self) -> None:
        self.log_factor = 0.0
        self.active_steps = 0
        self._decay = 0.0

    def grow(self, cause: Instability) -> None:
        """One more step under `cause`: up by × 2.5-10 to the peak, then restless below it."""
        self.active_steps += 1
        peak = math.log(1.0 + (cause.peak_factor - 1.0) * cause.intensity)
        rng = generator(cause.seed, "instability", cause.fault, block=self.active_steps // 256)
        draws = rng.random(256 + cause.growth_steps + 1)
        if self.active_steps <= cause.growth_steps:
            weights = 0.16 + 0.08 * draws[: cause.growth_steps]
            self.log_factor = peak * float(weights[: self.active_steps].sum() / weights.sum())
        else:
            restless = 2.0 * float(draws[cause.growth_steps + self.active_steps % 256]) ** 2
            self.log_factor = max(peak - restless, min(peak, math.log(_LEAST_UNSTABLE_FACTOR)))
        steps = _DECAY_STEPS_LOW + (_DECAY_STEPS_HIGH - _DECAY_STEPS_LOW) * float(draws[-1])
        self._decay = self.log_factor / steps

    def decay(self) -> bool:
        """One step without a cause; False once nothing is left."""
        self.active_steps = 0
        self.log_factor -= self._decay
        return self.log_factor > 0.0


class LearningModel:
    """The learning state of one run. Call `step` once per step, in order."""

    def __init__(self, spec: JobSpec, *, seed: int) -> None:
        self._spec = spec
        self._training = spec.training
        self._draws = StepStream(seed, "learning", width=6, draw=_draw)
        self._noise = _LOSS_NOISE * math.sqrt(_LOSS_NOISE_TOKENS / spec.tokens_per_step)
        self._floor = _E + _A / spec.model.parameters**_ALPHA
        self._ceiling = math.log(spec.model.vocabulary) + 1.0
        self._model_step = spec.training.start_step
        self._progress = float(self._model_step)
        """Steps' worth of learning behind the model: fewer than its steps once the learning rate was too small."""
        self._checkpoint = (self._model_step, self._progress)
        self._poisons = FaultStreams("poison", uniform_rows)
        self._correlated = 0.0
        self._spike: list[float] = []
        self._excess: dict[str, _Excess] = {}
        self._loss_excess = 0.0
        self._diverged = False
        self._unclipped_steps = 0
        self._scale = _FP16_FIRST_SCALE if self._training.precision == "fp16" else 1.0
        self._good_steps = 0
        self._spikes = Spikes([self._baseline()] * MEDIAN_STEPS)

    @property
    def learning_rate(self) -> float:
        """Linear warm-up, then a cosine down to a tenth of the peak."""
        training, step = self._training, self._model_step
        if step < training.warmup_steps:
            return training.peak_learning_rate * (step + 1) / training.warmup_steps
        span = max(1, training.total_steps - training.warmup_steps)
        progress = min(1.0, (step - training.warmup_steps) / span)
        return training.peak_learning_rate * (0.1 + 0.9 * 0.5 * (1.0 + math.cos(math.pi * progress)))

    def step(self, index: int, effects: Effects) -> LearnedStep:
        """Learn from step `index` of the run, under these faults."""
        draw = self._draws.rows(index, 1)[0]
        norm = self._healthy_norm(draw)
        before = self._factor()
        driven = {cause.fault: cause for cause in effects.instabilities}
        self._drive(driven)
        norm *= self._factor()
        target = _LOSS_PER_DECADE * math.log10(max(1.0, before / _LOSS_FOLLOWS_ABOVE))
        self._loss_excess = max(target, _LOSS_KEPT * self._loss_excess if self._loss_excess > 1e-6 else 0.0)
        tokens = max(1.0, self._progress) * self._spec.tokens_per_step
        loss = min(self._floor + _B / tokens**_BETA + self._loss_excess, self._ceiling) + self._noise * float(draw[1])
        skipped = self._scale_loss(norm * effects.overflow_factor)
        self._diverged |= self._is_poisoned(index, effects.poisons)
        if self._training.clip_norm is None and not skipped:
            # A step that was taken with such a gradient moves the weights too far; some of those are too many.
            self._unclipped_steps = self._unclipped_steps + 1 if driven else 0
            self._diverged |= self._unclipped_steps > _STEPS_TO_NAN
        if self._diverged:
            loss = norm = math.nan
        spike = self._spikes.is_spike(norm)
        rate = self.learning_rate * effects.learning_rate_factor
        if not skipped:
            self._model_step += 1
            self._progress += effects.learning_rate_factor
        return LearnedStep(Learning(loss, norm, rate, self._scale), not math.isfinite(loss), skipped, spike)

    def save_checkpoint(self) -> None:
        """Remember this model, unless it is already going wrong."""
        if not self._excess and not self._diverged and self._loss_excess <= 1e-6:
            self._checkpoint = (self._model_step, self._progress)

    def restore_checkpoint(self) -> None:
        """Back to the last good checkpoint: weights, loss scale and optimizer state are sane again."""
        self._model_step, self._progress = self._checkpoint
        self._excess.clear()
        self._loss_excess = 0.0
        self._diverged = False
        self._unclipped_steps = 0
        self._scale = _FP16_FIRST_SCALE if self._training.precision == "fp16" else 1.0

    def _baseline(self) -> float:
        return _NORM_BASELINE * math.pow(max(100.0, self._progress) / _NORM_STEP, -_NORM_DECAY)

    def _healthy_norm(self, draw: NDArray[np.float64]) -> float:
        keep = _NORM_CORRELATION
        self._correlated = keep * self._correlated + math.sqrt(1.0 - keep * keep) * float(draw[0])
        if not self._spike and draw[2] < _SPIKE_RATE:
            height = _SPIKE_LOW + (_SPIKE_HIGH - _SPIKE_LOW) * float(draw[3])
            length = 1 + int(_SPIKE_STEPS * draw[4])
            self._spike = [1.0 + (height - 1.0) * (1.0 - step / length) for step in range(length)]
        spike = self._spike.pop(0) if self._spike else 1.0
        return self._baseline() * math.exp(_NORM_NOISE * self._correlated) * spike

    def _factor(self) -> float:
        """The strongest instability sets the factor on the norm."""
        return math.exp(max((excess.log_factor for excess in self._excess.values()), default=0.0))

    def _drive(self, causes: dict[str, Instability]) -> None:
        for name in sorted(causes):
            self._excess.setdefault(name, _Excess()).grow(causes[name])
        for name in [name for name in self._excess if name not in causes]:
            if not self._excess[name].decay():
                del self._excess[name]

    def _is_poisoned(self, index: int, poisons: Iterable[Poison]) -> bool:
        """Whether a value that is not a number gets into the weights in this step."""
        return any(self._poisons.rows(each.fault, each.seed, index, 1)[0, 0] < each.chance for each in poisons)

    def _scale_loss(self, norm: float) -> bool:
        """fp16 loss scaling; True when the step overflowed and was skipped."""
        if self._training.precision != "fp16":
            return False
        if norm * self._scale > _FP16_OVERFLOW:
            self._scale = max(1.0, self._scale / 2.0)
            self._good_steps = 0
            return True
        self._good_steps += 1
        if self._good_steps % _FP16_GOOD_STEPS == 0:
            self._scale = min(_FP16_FIRST_SCALE, self._scale * 2.0)
        return False


def _draw(rng: np.random.Generator, steps: int, width: int) -> NDArray[np.float64]:
    """Two normal columns, the others uniform."""
    return np.concatenate((rng.standard_normal((steps, 2)), rng.random((steps, width - 2))), axis=1)
