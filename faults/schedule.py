"""How much of a fault there is at a given time: a pure function of its spec and of when it was cleared."""

from __future__ import annotations

import math

from faults.life import ENDED, State
from faults.spec import SHAPE_KEYS, FaultSpec

Level = tuple[State, float]

_STEEPNESS = 5.0
"""Of an exponential ramp, in time constants: 92 % of the way are behind it at half time."""


def intensity_at(
    spec: FaultSpec, elapsed_seconds: float, cleared_at: float | None = None, *, immediate: bool = False
) -> Level:
    """State and share (0 to 1) of the spec's intensity, `elapsed_seconds` after the fault was put.

    Up from the start and then held, or swinging, as the shape has it; when the duration is over or the fault is cleared
    (`cleared_at`, on the same clock), down from wherever it is, along the rest of a whole ramp. Clearing a pending
    fault, or any fault with `immediate` or without a ramp down, ends it at once.
    """
    if cleared_at is None or elapsed_seconds < cleared_at:
        return _uncleared(spec, elapsed_seconds)
    state, level = _uncleared(spec, cleared_at)
    if state in ENDED:
        return state, level
    return _falling(spec, 0.0 if immediate else level, elapsed_seconds - cleared_at, end="cleared")


def _uncleared(spec: FaultSpec, elapsed: float) -> Level:
    since_start = elapsed - spec.start_after_seconds
    if since_start < 0:
        return "pending", 0.0
    if spec.duration_seconds is not None and since_start >= spec.duration_seconds:
        _, level = _running(spec, spec.duration_seconds)
        return _falling(spec, level, since_start - spec.duration_seconds, end="expired")
    return _running(spec, since_start)


def _running(spec: FaultSpec, since_start: float) -> Level:
    """State and level that long after the start, had nothing ended it."""
    if "period_seconds" in SHAPE_KEYS[spec.shape]:
        return "active", _swing(spec, since_start)
    if since_start >= spec.ramp_up_seconds:
        return "active", 1.0
    level = _done(spec, since_start / spec.ramp_up_seconds)
    return ("active", 1.0) if level >= 1.0 else ("ramping", level)


def _swing(spec: FaultSpec, since_start: float) -> float:
    """Level of a shape that comes and goes. A sine begins at nothing, a flap with its `duty` of the period on."""
    assert spec.period_seconds is not None, "checked specs of these shapes have one"
    place = math.fmod(since_start, spec.period_seconds) / spec.period_seconds
    if spec.shape == "sine":
        return 0.5 - 0.5 * math.cos(2.0 * math.pi * place)
    assert spec.duty is not None, "checked specs of this shape have one"
    return 1.0 if place < spec.duty else 0.0


def _falling(spec: FaultSpec, level: float, since: float, *, end: State) -> Level:
    """Level that long after it began to fall from `level`."""
    fallen = since / spec.ramp_down_seconds if spec.ramp_down_seconds > 0 else 1.0
    if fallen >= 1.0:
        return end, 0.0
    if spec.shape == "exponential":
        place = _place(level) + fallen
        # Rounding must not lift what falls.
        level = min(level, 1.0 - _done(spec, place)) if place < 1.0 else 0.0
    else:
        level -= fallen
    return ("recovering", level) if level > 0.0 else (end, 0.0)


def _done(spec: FaultSpec, place: float) -> float:
    """Share of a ramp's whole change that is done at a place from 0 to 1 along it."""
    if spec.shape == "exponential":
        return math.expm1(-_STEEPNESS * place) / math.expm1(-_STEEPNESS)
    return place


def _place(left: float) -> float:
    """The place along an exponential ramp at which this share is left to do."""
    return -math.log1p((1.0 - left) * math.expm1(-_STEEPNESS)) / _STEEPNESS
