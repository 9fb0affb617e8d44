"""What a fault would do, before anybody presses: the same job simulated with and without it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from faults import registry
from faults.spec import FaultSpec
from faults.treatment import RemedySpec
from simulator.headless import measure, start
from simulator.job import JobSpec, mfu
from simulator.run import Run

Course = Sequence[FaultSpec | RemedySpec]
"""What broke and what was done about it, in their order."""

_WARM_UP_STEPS = 8
_MOST_STEPS, _FEWEST_STEPS = 64, 3
_MOST_CYCLE_STEPS = 2_048
"""What comes once in so many steps has to be followed for whole cycles of them, if they are not longer than this."""
_RANK_STEPS = 150_000
"""Work that a prediction may cost, in ranks × steps: a request must be answered while somebody waits."""

_MOST_SECONDS, _FEWEST_SECONDS = 300, 45
_RANK_SECONDS = 3_000_000
"""The same for a prediction that has to follow the temperature of boards, in ranks × simulated seconds."""
_MOST_TICKS, _FEWEST_TICKS = 6_000, 60
_RANK_TICKS = 6_000_000
"""And the end of all patience, in ranks × ticks: a step may take dozens of times as long as a healthy one."""

_MOST_STANDING_SECONDS = 20.0
"""A step that never ends will not, since no fault here has a schedule."""

_WARM_UP_SHARE = 5
"""One part of so many is warm-up. Boards start at the edge at which clocks fall, so that little is needed."""


@dataclass(frozen=True, slots=True)
class Change:
    """A quantity as it is and as it would be."""

    before: float
    after: float


@dataclass(frozen=True, slots=True)
class Prediction:
    """Effect of a fault at its full intensity, or of a remedy, with queues drained and boards hot; means over time."""

    cut_short: bool
    """Whether fewer steps were followed than a mean should have: they take too long, or a cycle has too many."""

    stands_still: bool
    """Whether no step ends any more: nothing is trained then, and the time of the step is how long it was followed."""

    step_seconds: Change
    mfu: Change
    tokens_per_second: Change
    gpu_util_percent: Change
    power_watts: Change


@dataclass(frozen=True, slots=True)
class _Steady:
    cut_short: bool
    stands_still: bool
    step_seconds: float
    gpu_util_percent: float
    power_watts: float


def predict(
    spec: JobSpec,
    fault: FaultSpec | None,
    *,
    live: Sequence[FaultSpec] = (),
    replaced: FaultSpec | None = None,
    seed: int,
) -> Prediction:
    """Effect of `fault` (None: of nothing), in the place of `replaced`, beside the `live` ones on such a job.

    Small jobs are followed for 64 steps, and for five minutes where a board may throttle; large ones for as long as a
    request may take, and none for longer. Raises FaultError when a fault does not fit the job.
    """
    before, after = ([*live, *([] if own is None else [own])] for own in (replaced, fault))
    return compare(spec, before, after, seed=seed)


def compare(spec: JobSpec, before: Course, after: Course, *, seed: int) -> Prediction:
    """The job after one course of faults and remedies, beside the same job after another."""
    cycle = max(map(_cycle_steps, (*before, *after)), default=1)
    runs = [start(spec, seed=seed, faults=list(map(_lasting, side)), full_queues=False) for side in (before, after)]
    # Both sides are measured alike, so that the noise of the same steps is in both.
    hot = [run.heat() for run in runs]
    follow = _over_minutes if any(hot) else partial(_over_steps, cycle=cycle)
    then, now = follow(runs[0]), follow(runs[1])
    rates = [0.0 if found.stands_still else spec.tokens_per_step / found.step_seconds for found in (then, now)]
    peak = spec.ranks * spec.peak_flops_per_rank
    mfus = [mfu(rate, flops_per_token=spec.flops_per_token, peak_flops_per_second=peak) for rate in rates]
    return Prediction(
        cut_short=then.cut_short or now.cut_short,
        stands_still=now.stands_still,
        step_seconds=Change(then.step_seconds, now.step_seconds),
        mfu=Change(*mfus),
        tokens_per_second=Change(*rates),
        gpu_util_percent=Change(then.gpu_util_percent, now.gpu_util_percent),
        power_watts=Change(then.power_watts, now.power_watts),
    )


def _lasting(fault: FaultSpec | RemedySpec) -> FaultSpec | RemedySpec:
    """The fault at its peak, without its schedule; a remedy as it is."""
    if isinstance(fault, RemedySpec):
        return fault
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


def _patience(run: Run) -> int:
    """Ticks that a side of a prediction may take."""
    return max(_FEWEST_TICKS, min(_MOST_TICKS, _RANK_TICKS // run.spec.ranks))


def _cycle_steps(fault: FaultSpec | RemedySpec) -> int:
    return 1 if isinstance(fault, RemedySpec) else registry.kind(fault.kind).cycle_steps(fault.params)


def _over_steps(run: Run, *, cycle: int) -> _Steady:
    """Means over some dozens of steps in whole cycles, or over those for which there is time."""
    affordable = _RANK_STEPS // run.spec.ranks
    wanted = cycle * -(-_MOST_STEPS // cycle)
    most = wanted if wanted <= _MOST_CYCLE_STEPS else _MOST_STEPS
    steps = max(_FEWEST_STEPS, min(most, affordable))
    patience = _patience(run)
    warm_up = min(_WARM_UP_STEPS, steps)
    measure(run, steps=warm_up, most_ticks=patience // 2, most_standing_seconds=_MOST_STANDING_SECONDS)
    most_ticks = patience - run.seconds
    measured = measure(run, steps=steps, most_ticks=most_ticks, most_standing_seconds=_MOST_STANDING_SECONDS)
    return _Steady(
        measured.cut_short or steps < cycle,
        run.stands_still,
        math.fsum(measured.step_seconds) / len(measured.step_seconds),
        float(measured.devices["gpu_util"].mean()),
        float(measured.devices["power_watts"].mean()),
    )


def _over_minutes(run: Run) -> _Steady:
    """Means over some minutes, in which boards heat up, throttle, cool and heat up again."""
    seconds = max(_FEWEST_SECONDS, min(_MOST_SECONDS, _RANK_SECONDS // run.spec.ranks))
    for _ in range(seconds // _WARM_UP_SHARE):
        first = run.advance().counters
    ticks = [run.advance()]
    patience = max(seconds, _patience(run))
    while run.seconds < seconds or (
        ticks[-1].counters.steps - first.steps < _FEWEST_STEPS and run.seconds < patience and not run.stands_still
    ):
        ticks.append(run.advance())
    last = ticks[-1].counters
    steps = last.steps - first.steps
    return _Steady(
        steps < _FEWEST_STEPS,
        run.stands_still,
        (last.step_seconds_sum - first.step_seconds_sum) / steps if steps else run.running_step_seconds,
        float(np.mean([tick.devices.gpu_util_percent.mean() for tick in ticks])),
        float(np.mean([tick.devices.power_watts.mean() for tick in ticks])),
    )
