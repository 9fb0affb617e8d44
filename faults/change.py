"""What may be changed of a fault that lives: its intensity, its end, and whether it acts at all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from faults.checks import Checker, listed
from faults.errors import FaultError
from faults.life import CHANGEABLE, Event
from faults.record import FaultRecord
from faults.spec import LIMITS, FaultSpec

FIELDS = ("intensity", "duration_seconds", "open_ended", "paused")
"""Every key of a change, as JSON has them."""


@dataclass(frozen=True, slots=True)
class FaultChange:
    """A change; None leaves what it is about as it is."""

    intensity: float | None = None
    """Above 0, up to 1: the new peak, felt at once."""
    duration_seconds: float | None = None
    """From the start of the fault, ramp-up included, as in a spec: it must not be over. The fault is timed then."""
    open_ended: bool = False
    """The fault lasts until it is cleared."""
    paused: bool | None = None
    """Whether it stops acting and the clock of its schedule stands still."""

    @classmethod
    def from_mapping(cls, mapping: object) -> FaultChange:
        """The checked change that a JSON value describes. Raises FaultError with every problem, and nothing else."""
        check = Checker()
        members = check.members(mapping, "", FIELDS, of="a change")
        if members is None:
            raise check.error()
        change = cls(
            intensity=_number("intensity", members, check),
            duration_seconds=_number("duration_seconds", members, check),
            open_ended=bool(_boolean("open_ended", members, check)),
            paused=_boolean("paused", members, check),
        )
        if "duration_seconds" in members and change.open_ended:
            check.add("/duration_seconds", "must be left out when open_ended is true")
        if members.get("open_ended") is False and "duration_seconds" not in members:
            limits = LIMITS["duration_seconds"]
            check.add("/duration_seconds", f"is required, a number {limits}, when open_ended is false")
        check.finish()
        return change

    def applied(self, record: FaultRecord, *, at_seconds: float, next_step: int) -> FaultRecord:
        """The record with this change; the same object when there is nothing to change.

        FaultError `over` when the fault can no longer be changed, or when the new duration has passed already.
        """
        state, _ = record.level(at_seconds)
        if state not in CHANGEABLE:
            detail = f"is {state}; only a {listed(CHANGEABLE)} fault can be changed, but it can be put again"
            raise FaultError.at("/name", detail, code="over")
        since_start = record.elapsed(at_seconds) - record.spec.start_after_seconds
        if self.duration_seconds is not None and self.duration_seconds <= since_start:
            detail = f"must be above {since_start:g}, the seconds since it started; clear it to end it now"
            raise FaultError.at("/duration_seconds", detail, code="over")
        changed = record if self.paused is None else _paused(record, self.paused, at_seconds)
        spec = self._spec(record.spec)
        if changed is record and spec == record.spec:
            return record
        return replace(changed, spec=spec, effective_from_step=None if state == "pending" else next_step)

    def _spec(self, spec: FaultSpec) -> FaultSpec:
        if self.intensity is not None:
            spec = replace(spec, intensity=self.intensity)
        if self.duration_seconds is not None:
            spec = replace(spec, duration_seconds=self.duration_seconds, open_ended=False)
        return replace(spec, duration_seconds=None, open_ended=True) if self.open_ended else spec


def changes(before: FaultRecord, after: FaultRecord) -> list[tuple[Event, str]]:
    """What a change did, for the event log: each event with its details."""
    words = []
    if after.spec.intensity != before.spec.intensity:
        words.append(f"intensity {before.spec.intensity:g} to {after.spec.intensity:g}")
    if after.spec.duration_seconds != before.spec.duration_seconds:
        words.append(f"duration {_duration(before.spec)} to {_duration(after.spec)}")
    told: list[tuple[Event, str]] = [("changed", ", ".join(words))] if words else []
    if before.is_paused != after.is_paused:
        told.append(("paused" if after.is_paused else "resumed", ""))
    return told


def _duration(spec: FaultSpec) -> str:
    return "open-ended" if spec.duration_seconds is None else f"{spec.duration_seconds:g} s"


def _paused(record: FaultRecord, wanted: bool, at_seconds: float) -> FaultRecord:
    return record.paused(at_seconds) if wanted else record.resumed(at_seconds)


def _number(name: str, members: Mapping[str, object], check: Checker) -> float | None:
    return check.number(members[name], f"/{name}", LIMITS[name]) if name in members else None


def _boolean(name: str, members: Mapping[str, object], check: Checker) -> bool | None:
    return check.boolean(members[name], f"/{name}") if name in members else None
