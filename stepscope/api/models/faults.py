"""Faults and their kinds, as answers. What may be *put* is described by schema.py, from the registry."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from faults.kind import ParamValue
from faults.life import STATES, State
from faults.resolved import MOST_LISTED, MOST_RANGES
from faults.spec import Shape as FaultShape
from faults.target import Mode
from stepscope.api.models.base import Count, Moment, Name, NonNegative, Shape, Share

Interval = Annotated[list[Count], Field(min_length=2, max_length=2)]
"""First and last of some neighbouring ranks."""

_STATES = "Where it is in its life: " + "; ".join(f"{name}: {text}" for name, text in STATES.items()) + "."


class TargetView(Shape):
    """Whom a fault is meant for."""

    mode: Mode
    value: float | list[int] | None = None


class FaultView(Shape):
    """A fault as it stands."""

    name: Name
    kind: Name
    params: dict[str, ParamValue]
    target: TargetView | None
    intensity: Share
    start_after_seconds: NonNegative
    duration_seconds: NonNegative | None
    open_ended: bool
    ramp_up_seconds: NonNegative
    ramp_down_seconds: NonNegative
    shape: FaultShape
    period_seconds: NonNegative | None
    """Null for shapes that do not come and go."""
    duty: Share | None
    """Null for every shape but flap."""
    seed: Count | None
    note: str
    state: Annotated[State, Field(description=_STATES)]
    paused: bool
    """Whether it acts on nothing and the clock of its schedule stands still; `state` is where that clock stands."""
    resolved_targets: Annotated[list[Count], Field(max_length=MOST_LISTED)]
    """The ranks hit, lowest first: all of them up to 1,024, else the first 1,024."""
    resolved_count: Annotated[int, Field(ge=1)]
    """How many ranks are hit."""
    resolved_ranges: Annotated[list[Interval], Field(max_length=MOST_RANGES)]
    """The same ranks as ranges of neighbours, each with its first and last rank; at most the first 256 ranges."""
    effective_intensity: Share
    """Intensity now, schedule included."""
    effective_from_step: int | None
    """First step that feels it as it is now; null while it has not started."""
    created_at: Moment
    expires_at: Moment | None
    """Null for a fault that is open-ended, paused, or cleared before its time."""


class FaultList(Shape):
    """Faults in the order of their names."""

    faults: list[FaultView]


class Change(Shape):
    """One number: in the job as it is now, and with the fault as it would be."""

    before: NonNegative
    after: NonNegative


class Prediction(Shape):
    """What a fault at its peak does to the run as it is now: the step model itself, run ahead.

    Other faults count as strong as they act now; those that are pending, paused or over do not count.
    """

    cut_short: bool
    """Whether steps take so long that few were followed: the numbers are rougher then."""
    stands_still: bool
    """Whether no step would end any more. The time of a step is then how long it was followed."""
    step_seconds: Change
    mfu: Change
    gpu_util_percent: Change
    tokens_per_second: Change
    power_watts: Change


class DryRun(Shape):
    """What putting this fault would do. Nothing was applied."""

    dry_run: Literal[True] = True
    fault: FaultView
    predicted: Prediction


class ResetView(Shape):
    """What a reset did: every fault is cleared, the model is back at its last good checkpoint."""

    effective_from_step: Count
    """First step that feels it."""


class KindView(Shape):
    """A kind of fault."""

    kind: Name
    summary: Name
    look_at: Name
    """What to watch, and what it should show."""
    params: Annotated[dict[str, Any], Field(json_schema_extra={"additionalProperties": True})]
    """JSON Schema of `params`, with units as `x-unit`."""
    default_target: TargetView
    """Of a fault that names none."""
    target_modes: list[Mode]
    phases: list[str]
    """Phases of the step that it lengthens."""
    metrics: list[str]
    """Series that move."""
    composition: Name
    """How several at once add up."""
    needs: list[str]
    """What the job must have, for example a network."""


class KindList(Shape):
    """Kinds in the order of their names."""

    kinds: list[KindView]
