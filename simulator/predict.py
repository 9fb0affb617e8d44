"""What a fault would do, before anybody presses: the same job simulated with and without it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from faults.spec import FaultSpec
from simulator.headless import measure, start
from simulator.job import JobSpec, mfu

_WARM_UP_STEPS = 8
_MOST_STEPS, _FEWEST_STEPS = 64, 3
_RANK_STEPS = 150_000
"""Work that a prediction may cost, in ranks × steps: a request must be answered while somebody waits."""


@dataclass(frozen=True, slots=True)
class Change:
    """A quantity without and with the fault."""

    before: float
    after: float


@dataclass(frozen=True, slots=True)
class Prediction:
    """Effect of a fault at its full intensity, once queues have drained; means over the measured steps."""

    step_seconds: Change
    mfu: Change
    tokens_per_second: Change
    gpu_util_percent: Change
    power_watts: Change


def predict(spec: JobSpec, fault: FaultSpec, *, live: Sequence[FaultSpec] = (), seed: int) -> Prediction:
    """Effect of `fault` on top of the `live` ones on such a job. Raises FaultError when it does not fit the job."""
    lasting = [_lasting(other) for other in live]
    before = _steady(spec, lasting, seed)
    after = _steady(spec, [*lasting, _lasting(fault)], seed)
    return Prediction(*(Change(b, a) for b, a in zip(before, after, strict=True)))


def _lasting(fault: FaultSpec) -> FaultSpec:
    """The fault without its schedule."""
    return replace(
        fault,
        start_after_seconds=0.0,
        duration_seconds=None,
        open_ended=True,
        ramp_up_seconds=0.0,
        ramp_down_seconds=0.0,
    )


def _steady(spec: JobSpec, faults: Sequence[FaultSpec], seed: int) -> tuple[float, ...]:
    run = start(spec, seed=seed, faults=faults, full_queues=False)
    steps = max(_FEWEST_STEPS, min(_MOST_STEPS, _RANK_STEPS // spec.ranks))
    measure(run, steps=min(_WARM_UP_STEPS, steps))
    measured = measure(run, steps=steps)
    seconds = math.fsum(measured.step_seconds) / steps
    rate = spec.tokens_per_step / seconds
    return (
        seconds,
        mfu(rate, flops_per_token=spec.flops_per_token, peak_flops_per_second=run.info.peak_flops_per_second),
        rate,
        float(measured.devices["gpu_util"].mean()),
        float(measured.devices["power_watts"].mean()),
    )
