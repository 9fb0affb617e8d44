"""Runs that several oracles look at, computed once."""

from __future__ import annotations

from functools import cache

import numpy as np

from faults.effects import Effects
from simulator.job import JobSpec
from simulator.observation import Floats
from simulator.presets import preset
from simulator.run import topology_of
from simulator.timeline import Conditions, StepModel

STEPS = 288
"""As long as most of the logged runs that step times are compared with."""
_RANK_STEPS_AT_ONCE = 131_072


def healthy_durations(spec: JobSpec, *, steps: int, seed: int = 1) -> Floats:
    """Step times without any fault, checkpoints left out; shape (steps,)."""
    model = StepModel(spec, seed=seed)
    calm = Conditions(np.full(spec.ranks, spec.cluster.gpu.healthy_clock_ratio), Effects.neutral(topology_of(spec)))
    at_once = max(1, _RANK_STEPS_AT_ONCE // spec.ranks)
    found = []
    for first in range(0, steps, at_once):
        waits = np.full((min(at_once, steps - first), spec.ranks), spec.loader.dequeue_seconds)
        block = model.steps(first, waits=waits, conditions=calm)
        kept = ~block.checkpointed
        found.append(block.durations[kept])
    return np.concatenate(found)


@cache
def preset_durations(name: str, seed: int) -> Floats:
    """Step times of one healthy run of a preset."""
    return healthy_durations(preset(name), steps=STEPS, seed=seed)
