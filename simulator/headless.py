"""Headless runs: as fast as the machine goes, to one summary."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from faults.book import FaultBook
from faults.spec import FaultSpec
from faults.treatment import RemedySpec
from simulator.job import JobSpec, mfu, mfu_warnings
from simulator.names import PHASES
from simulator.observation import Floats
from simulator.run import Run, topology_of

Progress = Callable[[int, int], None]
"""Called with (steps done, steps asked)."""

_DEVICE_FIELDS = {
    "gpu_util": "gpu_util_percent",
    "sm_active": "sm_active",
    "sm_occupancy": "sm_occupancy",
    "tensor_active": "tensor_active",
    "dram_active": "dram_active",
    "power_watts": "power_watts",
    "temperature_celsius": "temperature_celsius",
    "sm_clock_mhz": "sm_clock_mhz",
}


_MOST_STANDING_SECONDS = 900.0
"""A step that has not ended by then will not, unless somebody does something."""


@dataclass(slots=True)
class Measured:
    """What a stretch of steps showed. Shapes: S steps, P phases, R ranks."""

    step_seconds: list[float] = field(default_factory=list)
    phase_seconds: Floats = field(default_factory=lambda: np.zeros(1))
    """(P, R) summed over the steps."""
    losses: list[float] = field(default_factory=list)
    grad_norms: list[float] = field(default_factory=list)
    devices: dict[str, Floats] = field(default_factory=dict)
    """(R,) means over the ticks in which the steps ran."""
    cut_short: bool = False
    """Whether time was up before all the steps had ended. There is one all the same, if only the running one."""


def measure(
    run: Run,
    *,
    steps: int,
    progress: Progress | None = None,
    most_ticks: float = math.inf,
    most_standing_seconds: float = _MOST_STANDING_SECONDS,
) -> Measured:
    """Advance until `steps` more steps have ended, and measure exactly those.

    They are fewer when that takes `most_ticks`, or when the run stands still for so long.
    """
    measured, ticks = Measured(), 0
    sums = {name: np.zeros(run.spec.ranks) for name in _DEVICE_FIELDS}
    while len(measured.step_seconds) < steps and not measured.cut_short:
        tick = run.advance()
        ticks += 1
        for name, attribute in _DEVICE_FIELDS.items():
            sums[name] += getattr(tick.devices, attribute)
        for block, learned in run.ended[: steps - len(measured.step_seconds)]:
            measured.step_seconds.append(float(block.durations[0]))
            measured.phase_seconds = measured.phase_seconds + block.phases[0]
            measured.losses.append(learned.values.loss)
            measured.grad_norms.append(learned.values.grad_norm)
        patience_over = ticks >= most_ticks or (run.stands_still and run.running_step_seconds > most_standing_seconds)
        measured.cut_short = patience_over and len(measured.step_seconds) < steps
        if progress is not None:
            progress(len(measured.step_seconds), steps)
    if not measured.step_seconds:
        measured.step_seconds.append(run.running_step_seconds)
    measured.devices = {name: total / ticks for name, total in sums.items()}
    return measured


def start(
    spec: JobSpec,
    *,
    seed: int,
    faults: Sequence[FaultSpec | RemedySpec] = (),
    full_queues: bool = True,
    run: str | None = None,
) -> Run:
    """A run with these faults put before its first step, and remedies applied, in their order.

    Nothing is started again for them. Raises FaultError when one does not fit the job.
    """
    book = FaultBook(topology_of(spec), seed=seed)
    for index, fault in enumerate(faults):
        if isinstance(fault, RemedySpec):
            book.treat(fault, at_seconds=0.0, next_step=0, restart_seconds=0.0, end_cured=False)
        else:
            book.put(f"{fault.kind}-{index}".replace("_", "-"), fault, at_seconds=0.0, next_step=0)
    return Run(spec, seed=seed, run=run or spec.preset, faults=book, full_queues=full_queues)


def simulate(
    spec: JobSpec, *, steps: int, seed: int, faults: Sequence[FaultSpec] = (), progress: Progress | None = None
) -> dict[str, Any]:
    """Run `steps` steps and sum them up: the object that `stepscope simulate --json` prints.

    Seconds, watts, °C, MHz; `gpu_util` in percent, every other ratio 0-1; `phases` are shares of wall clock,
    averaged over ranks; `ranks[].phases` seconds per step. Steps count from 0. A value that is not finite is None.
    """
    if steps < 1:
        raise ValueError(f"steps: {steps} is not a whole number of at least 1")
    run = start(spec, seed=seed, faults=faults)
    measured = measure(run, steps=steps, progress=progress)
    if measured.cut_short:
        raise ValueError(
            f"steps: the job stands still for more than {_MOST_STANDING_SECONDS:g} simulated seconds after "
            f"{run.next_step} of the {steps} steps asked for; a fault that ends sooner lets it go on"
        )
    total = math.fsum(measured.step_seconds)
    rate = spec.tokens_per_step * steps / total
    achieved = mfu(rate, flops_per_token=spec.flops_per_token, peak_flops_per_second=run.info.peak_flops_per_second)
    mean_phases = measured.phase_seconds.mean(axis=1) / total
    durations = np.array(measured.step_seconds)
    return {
        "preset": spec.preset,
        "seed": seed,
        "steps": steps,
        "step_seconds": {
            "mean": total / steps,
            "p50": float(np.percentile(durations, 50)),
            "p99": float(np.percentile(durations, 99)),
            "max": float(durations.max()),
        },
        "tokens_per_second_per_gpu": rate / spec.ranks,
        "mfu": achieved,
        "hfu": achieved * spec.hardware_flops_per_token / spec.flops_per_token,
        "phases": dict(zip(PHASES, mean_phases.tolist(), strict=True)),
        "ranks": _ranks(measured, steps),
        "loss": _extremes(measured.losses),
        "grad_norm": _extremes(measured.grad_norms),
        "warnings": [*spec.notes, *mfu_warnings(achieved, spec)],
    }


def _ranks(measured: Measured, steps: int) -> list[dict[str, Any]]:
    per_step = (measured.phase_seconds / steps).T.tolist()
    columns = {name: values.tolist() for name, values in measured.devices.items()}
    return [
        {"rank": rank, "phases": dict(zip(PHASES, phases, strict=True))}
        | {name: values[rank] for name, values in columns.items()}
        for rank, phases in enumerate(per_step)
    ]


def _extremes(values: list[float]) -> dict[str, float | int | None]:
    finite = [(value, index) for index, value in enumerate(values) if math.isfinite(value)]
    if not finite:
        return {"last": None, "max": None, "max_step": None}
    top, step = max(finite, key=lambda pair: pair[0])
    return {"last": values[-1] if math.isfinite(values[-1]) else None, "max": top, "max_step": step}
