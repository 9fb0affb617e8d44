"""A run watched second by second, for signatures that are means over minutes."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from faults.parse import parse_fault
from simulator.headless import start
from simulator.job import JobSpec
from simulator.names import PHASES
from simulator.observation import Counters, Devices, Floats


@dataclass(frozen=True, slots=True)
class Watched:
    """What some minutes of a run showed. Shapes: S seconds, P phases, R ranks."""

    readings: dict[str, Floats]
    """(S, R) each field of `Devices`."""
    violations: dict[str, Floats]
    """(S, R) seconds with clocks held down, by `thermal` and `power`."""
    phases: Floats
    """(P, R) seconds per step."""
    counters: Counters
    """At the end."""
    mfu: float

    @property
    def step_seconds(self) -> float:
        """Mean duration of a step."""
        return self.counters.step_seconds_sum / self.counters.steps

    def mean(self, reading: str) -> Floats:
        """(R,) time average of a reading."""
        average: Floats = self.readings[reading].mean(axis=0)
        return average

    def phase(self, name: str) -> Floats:
        """(R,) seconds per step in this phase."""
        seconds: Floats = self.phases[PHASES.index(name)]
        return seconds

    def bits(self, mask: int) -> NDArray[np.bool_]:
        """(S, R) whether a throttle reason is set."""
        set_bits: NDArray[np.bool_] = (self.readings["throttle_reasons"].astype(np.int64) & mask) != 0
        return set_bits


def watch(spec: JobSpec, *faults: str, seconds: int, seed: int = 3) -> Watched:
    """The first `seconds` of a run with these faults from its first step."""
    run = start(spec, seed=seed, faults=[parse_fault(text) for text in faults])
    ticks = [run.advance() for _ in range(seconds)]
    counters = ticks[-1].counters
    rate = counters.model_flops / counters.step_seconds_sum
    return Watched(
        readings={
            field.name: np.array([getattr(tick.devices, field.name) for tick in ticks]) for field in fields(Devices)
        },
        violations={
            name: np.array([getattr(tick.counters, f"{name}_violation_seconds") for tick in ticks])
            for name in ("thermal", "power")
        },
        phases=counters.phase_seconds / counters.steps,
        counters=counters,
        mfu=rate / run.info.peak_flops_per_second,
    )


@dataclass(frozen=True, slots=True)
class Steps:
    """The first steps of a run, one by one. Shapes: S steps, P phases, R ranks."""

    phases: Floats
    """(S, P, R) seconds."""
    losses: Floats
    """(S,)"""
    norms: Floats
    """(S,)"""

    def phase(self, name: str) -> Floats:
        """(S, R) seconds in this phase."""
        seconds: Floats = self.phases[:, PHASES.index(name)]
        return seconds

    @property
    def durations(self) -> Floats:
        """(S,) seconds."""
        seconds: Floats = self.phases[:, :, 0].sum(axis=1)
        return seconds


def first_steps(spec: JobSpec, *faults: str, steps: int, seed: int = 3) -> Steps:
    """The first steps of a run with these faults from its first one."""
    run = start(spec, seed=seed, faults=[parse_fault(text) for text in faults])
    ended: list[tuple[Floats, float, float]] = []
    while len(ended) < steps:
        run.advance()
        ended += [(block.phases[0], learned.values.loss, learned.values.grad_norm) for block, learned in run.ended]
    phases, losses, norms = zip(*ended[:steps], strict=True)
    return Steps(np.array(phases), np.array(losses), np.array(norms))
