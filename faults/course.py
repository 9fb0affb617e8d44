"""The course of a run: what broke and what was done about it, in their order.

A remedy acts on what had begun before it. What begins later is not treated: a setting can be spoiled again.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from faults import registry
from faults.effects import Effects, Topology
from faults.errors import FaultError
from faults.record import FaultRecord
from faults.remedy_registry import remedy
from faults.treatment import RemedySpec, Treatment

MOST_TREATMENTS = 64
"""Applied to one run at most."""
Acting = Iterable[tuple[FaultRecord, float]]
"""Faults with their intensities, in the order of their names."""


class Course:
    """Keeps the order, and says what faults do after what was done about them."""

    def __init__(self, topology: Topology) -> None:
        self._topology = topology
        self._last = 0
        self._treatments: list[Treatment] = []

    @property
    def treatments(self) -> tuple[Treatment, ...]:
        """The remedies that were applied, in their order."""
        return tuple(self._treatments)

    def begun(self, record: FaultRecord) -> FaultRecord:
        """The record, with its place in the order once it has started."""
        if record.began is not None or record.effective_from_step is None:
            return record
        self._last += 1
        return replace(record, began=self._last)

    def effects(self, acting: Acting) -> Effects:
        """What these faults do together, each treated by what was done after it began."""
        effects = Effects.neutral(self._topology)
        left = list(acting)
        for treatment in self._treatments:
            before = [(record, intensity) for record, intensity in left if _order(record) < treatment.order]
            left = [(record, intensity) for record, intensity in left if _order(record) >= treatment.order]
            self._apply(effects, before)
            treatment.treat(effects)
        self._apply(effects, left)
        return effects

    def treat(
        self,
        spec: RemedySpec,
        live: Iterable[FaultRecord],
        *,
        at_seconds: float,
        next_step: int,
        restart_seconds: float,
    ) -> Treatment:
        """Apply a remedy. FaultError where it can do nothing on this job, and for too many."""
        dose = spec.dose(self._topology)
        newest = max((_order(record) for record in live), default=0)
        last = self._treatments[-1] if self._treatments else None
        if last is not None and last.spec == spec and newest < last.order:
            # The same again, with nothing in between: it takes the place of the first.
            self._treatments.pop()
        if len(self._treatments) >= MOST_TREATMENTS:
            detail = f"at most {MOST_TREATMENTS} remedies may be applied to one run; a reset forgets them"
            raise FaultError.at("", detail, code="limit")
        self._last += 1
        down = restart_seconds if remedy(spec.remedy).restarts else 0.0
        treatment = Treatment(spec, dose, self._last, at_seconds, next_step, down)
        self._treatments.append(treatment)
        return treatment

    def cured(self, records: Iterable[FaultRecord]) -> list[FaultRecord]:
        """Those that have begun, and would do something, and do nothing any more, however strong they are."""
        begun = [record for record in records if record.began is not None]
        if not begun or not self._treatments:
            return []
        # Of large jobs each of these costs milliseconds, and the whole lab waits: as few as there can be.
        nothing, neutral = self.effects([]), Effects.neutral(self._topology)
        return [record for record in begun if self._is_cured(record, nothing, neutral)]

    def _is_cured(self, record: FaultRecord, nothing: Effects, neutral: Effects) -> bool:
        alone = [(record, record.spec.intensity)]
        if not self.effects(alone).same_as(nothing):
            return False
        untreated = Effects.neutral(self._topology)
        self._apply(untreated, alone)
        return not untreated.same_as(neutral)

    def forget(self) -> None:
        """The job is set up again as it was at first."""
        self._treatments.clear()

    def _apply(self, effects: Effects, acting: Acting) -> None:
        for record, intensity in acting:
            registry.kind(record.spec.kind).apply(effects, record.application(intensity, self._topology))


def _order(record: FaultRecord) -> int:
    return record.began or 0
