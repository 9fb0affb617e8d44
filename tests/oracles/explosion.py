"""Gradient explosion against the log of BLOOM, steps 31,214 to 31,222."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from faults.parse import parse_fault
from simulator.headless import measure, start
from simulator.observation import Floats
from simulator.presets import preset
from tests.oracles.oracle import Oracle, rows

_SOURCE = "bigscience-workshop chronicles, BLOOM 176B: 0.24 → 0.95 → 2.4 → 16 → 145 → 960 while steps stay at 106 s"
_FIRST, _GROWING = 31_214, 5
_SEEDS = range(1, 9)
_LARGE_NORM, _LARGE_LOSS = 100.0, 1.0
"""The gradient is gone when its norm is this many times the usual one, the loss when it is this much higher."""


@dataclass(frozen=True, slots=True)
class Shape:
    """How an explosion looks, whoever measures it."""

    growth: Floats
    """Factor on the norm in each of the five growing steps."""
    total: float
    loss_lag_steps: int
    """From the first large norm to the first large loss."""
    step_time_moved: float
    """Largest relative change of the step time."""


def shape(stretch: Floats, usual: Floats) -> Shape:
    """The shape of a stretch that begins with the last healthy step.

    `stretch` holds norms, losses and step times, shape (3, steps); `usual` the same of healthy steps, broadcastable.
    """
    norms, losses, seconds = stretch
    norm_at = int(np.argmax(norms > _LARGE_NORM * np.median(usual[0])))
    loss_at = int(np.argmax(losses > np.median(usual[1]) + _LARGE_LOSS))
    return Shape(
        growth=norms[1 : _GROWING + 1] / norms[:_GROWING],
        total=float(norms[_GROWING] / norms[0]),
        loss_lag_steps=loss_at - norm_at,
        step_time_moved=float(np.abs(seconds / usual[2] - 1.0).max()),
    )


@cache
def logged() -> Shape:
    """The shape in BLOOM's log."""
    log = [row for row in rows("bigscience_log_excerpts.csv") if _FIRST <= int(row["iteration"]) <= _FIRST + 8]
    stretch = np.array([[float(row[key]) for row in log] for key in ("grad_norm", "lm_loss", "iter_s")])
    usual = stretch[:, :1].copy()
    usual[2] = np.median(stretch[2])
    return shape(stretch, usual)


@cache
def simulated() -> tuple[Shape, ...]:
    """The shape in several runs of the default preset."""
    job, fault = preset("workshop-4gpu"), parse_fault("gradient_explosion:start_after_seconds=1")
    found = []
    for seed in _SEEDS:
        wild, calm = (
            np.array([seen.grad_norms, seen.losses, seen.step_seconds])
            for seen in (measure(start(job, seed=seed, faults=faults), steps=20) for faults in ([fault], []))
        )
        first = int(np.argmax(wild[0] > 2.0 * calm[0])) - 1
        found.append(shape(wild[:, first:], calm[:, first:]))
    return tuple(found)


ORACLES = (
    Oracle("growth-least", "factor on the gradient norm per step, five steps, 8 runs: least", _SOURCE,
           lambda: min(float(s.growth.min()) for s in simulated()), low=2.5, high=10.0, digits=1),
    Oracle("growth-most", "the same: most", _SOURCE,
           lambda: max(float(s.growth.max()) for s in simulated()), low=2.5, high=10.0, digits=1),
    Oracle("growth-total", "factor after five steps, 8 runs: mean (in the log 3,968)", _SOURCE,
           lambda: float(np.mean([s.total for s in simulated()])), low=1_000.0, high=5_000.0, digits=0),
    Oracle("loss-lag", "steps from a norm × 100 to a loss 1.0 higher, 8 runs: longest (in the log 1)", _SOURCE,
           lambda: float(max(s.loss_lag_steps for s in simulated())), low=1.0, high=2.0, digits=0),
    Oracle("loss-lead", "the same: shortest", _SOURCE,
           lambda: float(min(s.loss_lag_steps for s in simulated())), low=1.0, high=2.0, digits=0),
    Oracle("step-unmoved", "change of the step time meanwhile: largest (in the log 1.1 %)", _SOURCE,
           lambda: 100.0 * max(s.step_time_moved for s in simulated()), high=1.0, unit="%"),
)  # fmt: skip
