"""What a fault would do, before anybody presses: the same job simulated with and without it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from faults.spec import FaultSpec
from simulator.headless import measure, start
from simulator.job import JobSpec, mfu
from simulator.run import Run

_WARM_UP_STEPS = 8
_MOST_STEPS, _FEWEST_STEPS = 64, 3
_RANK_STEPS = 150_000
"""Work that a prediction may cost, in ranks × steps: a request must be answered while somebody waits."""

_MOST_SECONDS, _FEWEST_SECONDS = 300, 45
_RANK_SECONDS = 3_000_000
"""The same for a prediction that has to follow the temperature of boards, in ranks × simulated seconds."""
_WARM_UP_SHARE = 5
"""One part of so many is warm-up. Boards start at the edge at which clocks fall, so that little is needed."""


@dataclass(frozen=True, slots=True)
class Change:
    """A quantity without and with the fault."""

    before: float
    after: float


@dataclass(frozen=True, slots=True)
class Prediction:
    """Effect of a fault at its full intensity, once queues have drained and boards are hot; means over time."""

    step_seconds: Change
    mfu: Change
    tokens_per_second: Change
    gpu_util_percent: Change
    power_watts: Change


@dataclass(frozen=True, slots=True)
class _Steady:
    step_seconds: float
    gpu_util_percent: float
    power_watts: float


def predict(spec: JobSpec, fault: FaultSpec | None, *, live: Sequence[FaultSpec] = (), seed: int) -> Prediction:
    """Effect of `fault` (None: of nothing) on top of the `live` ones on such a job.

    Small jobs are followed for 64 steps, and for five minutes where a board may throttle; large ones for as long as a
    request may take. Raises FaultError when a fault does not fit the job.
    """
    lasting = [_lasting(other) for other in live]
    runs = [
        start(spec, seed=seed, faults=faults, full_queues=False)
        for faults in (lasting, lasting if fault is None else [*lasting, _lasting(fault)])
    ]
    # Both sides are measured alike, so that the noise of the same steps is in both.
    hot = [run.heat() for run in runs]
    follow = _over_minutes if any(hot) else _over_steps
    before, after = follow(runs[0]), follow(runs[1])
    rates = [spec.tokens_per_step / found.step_seconds for found in (before, after)]
    peak = spec.ranks * spec.peak_flops_per_rank
    mfus = [mfu(rate, flops_per_token=spec.flops_per_token, peak_flops_per_second=peak) for rate in rates]
    return Prediction(
        step_seconds=Change(before.step_seconds, after.step_seconds),
        mfu=Change(*mfus),
        tokens_per_second=Change(*rates),
        gpu_util_percent=Change(before.gpu_util_percent, after.gpu_util_percent),
        power_watts=Change(before.power_watts, after.power_watts),
    )


def _lasting(fault: FaultSpec) -> FaultSpec:
    """The fault at its peak, without its schedule."""
    return replace(
        fault,
        start_after_seconds=0.0,
        duration_seconds=None,
        open_ended=True,
        ramp_up_seconds=0.0,
        ramp_down_seconds=0.0,
        shape="step",
        period_seconds=None,
        duty=None,
    )


def _over_steps(run: Run) -> _Steady:
    """Means over some dozens of steps, whatever time they take."""
    steps = max(_FEWEST_STEPS, min(_MOST_STEPS, _RANK_STEPS // run.spec.ranks))
    measure(run, steps=min(_WARM_UP_STEPS, steps))
    measured = measure(run, steps=steps)
    return _Steady(
        math.fsum(measured.step_seconds) / steps,
        float(measured.devices["gpu_util"].mean()),
        float(measured.devices["power_watts"].mean()),
    )


def _over_minutes(run: Run) -> _Steady:
    """Means over some minutes, in which boards heat up, throttle, cool and heat up again."""
    seconds = max(_FEWEST_SECONDS, min(_MOST_SECONDS, _RANK_SECONDS // run.spec.ranks))
    for _ in range(seconds // _WARM_UP_SHARE):
        first = run.advance().counters
    ticks = [run.advance()]
    while run.seconds < seconds or ticks[-1].counters.steps - first.steps < _FEWEST_STEPS:
        ticks.append(run.advance())
    last = ticks[-1].counters
    return _Steady(
        (last.step_seconds_sum - first.step_seconds_sum) / (last.steps - first.steps),
        float(np.mean([tick.devices.gpu_util_percent.mean() for tick in ticks])),
        float(np.mean([tick.devices.power_watts.mean() for tick in ticks])),
    )
