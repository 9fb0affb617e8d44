"""How much of a fault there is at a given time: a pure function of its spec and of when it was cleared."""

from __future__ import annotations

from typing import Literal

from faults.spec import FaultSpec

State = Literal["pending", "ramping", "active", "recovering", "cleared", "expired", "aborted"]
ENDED: frozenset[State] = frozenset({"cleared", "expired", "aborted"})
"""States that a fault never leaves."""

Level = tuple[State, float]


def intensity_at(
    spec: FaultSpec, elapsed_seconds: float, cleared_at: float | None = None, *, immediate: bool = False
) -> Level:
    """State and share (0 to 1) of the spec's intensity, `elapsed_seconds` after the fault was put.

    Linear up from the start, then held; when the duration is over or the fault is cleared (`cleared_at`, on the same
    clock), down from wherever it is, at the rate of one whole ramp. Clearing a pending fault, or any fault with
    `immediate` or without a ramp down, ends it at once.
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
        level = _risen(spec, spec.duration_seconds)
        return _falling(spec, level, since_start - spec.duration_seconds, end="expired")
    level = _risen(spec, since_start)
    return ("active", 1.0) if level >= 1.0 else ("ramping", level)


def _risen(spec: FaultSpec, since_start: float) -> float:
    """Level reached that long after the start, had nothing ended it."""
    return 1.0 if since_start >= spec.ramp_up_seconds else since_start / spec.ramp_up_seconds


def _falling(spec: FaultSpec, level: float, since: float, *, end: State) -> Level:
    """Level that long after it began to fall from `level`."""
    fallen = since / spec.ramp_down_seconds if spec.ramp_down_seconds > 0 else 1.0
    return ("recovering", level - fallen) if fallen < level else (end, 0.0)
