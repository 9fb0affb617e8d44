"""The faults of one run: who was put, what each does now, and what happened."""

from __future__ import annotations

import itertools
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TypeAlias

from faults.admission import admitted, check_intensity, completed
from faults.archive import Archive
from faults.change import FaultChange, changes
from faults.course import Course
from faults.effects import Effects, Topology
from faults.errors import FaultError
from faults.life import CHANGEABLE, ENDED, Event, State, events_between
from faults.record import ActiveView, FaultEvent, FaultRecord, validate_name
from faults.spec import FaultSpec
from faults.treatment import RemedySpec, Treatment

Records: TypeAlias = list[FaultRecord]
Events: TypeAlias = list[FaultEvent]
Names: TypeAlias = list[str]
Views: TypeAlias = list[ActiveView]
MAX_EVENTS = 4096
"""Events that wait to be drained at most; the oldest go first."""


class FaultBook:
    """All faults of one run. Not thread-safe: whoever runs the job holds the lock.

    `at_seconds` is always simulated seconds since the run began. `now` gives the Unix time of the run's clock, by which
    `created_at` and `expires_at` agree with its seconds.
    Every change is also queued as an event, see `drain_events`.
    """

    def __init__(
        self,
        topology: Topology,
        *,
        seed: int,
        now: Callable[[], float] = time.time,
        max_live: int = 64,
        max_ended: int = 256,
    ) -> None:
        self.topology = topology
        self.seed = seed
        self._now = now
        self._max_live = max_live
        self._live: dict[str, FaultRecord] = {}
        self._archive = Archive(max_ended)
        self._events: deque[FaultEvent] = deque(maxlen=MAX_EVENTS)
        self._at = 0.0
        self._step = 0
        self._named = 0
        self._course = Course(topology)

    def preview(self, name: str, spec: FaultSpec, *, at_seconds: float, next_step: int) -> tuple[FaultRecord, bool]:
        """What `put` would return or raise, without doing it."""
        spec = completed(validate_name(name), spec, topology=self.topology, run_seed=self.seed)
        states = {record.name: record.level(at_seconds)[0] for record in self._live.values()}
        live = {other for other, state in states.items() if state not in ENDED}
        same = states.get(name) in CHANGEABLE and self._live[name].spec == spec
        if same and not self._live[name].is_paused:
            return self._live[name], False
        if name not in live and len(live) >= self._max_live:
            detail = f"at most {self._max_live} faults may be live at once; clear one, or reset"
            raise FaultError.at("", detail, code="limit")
        record = admitted(
            name, spec, topology=self.topology, put_at=at_seconds, created_at=self._now(), next_step=next_step
        )
        return record, name not in live

    def put(self, name: str, spec: FaultSpec, *, at_seconds: float, next_step: int) -> tuple[FaultRecord, bool]:
        """Add a fault, or replace the live one of that name; says whether it is new.

        The same spec again is a no-op while the fault is pending, ramping or active, and not paused. Raises FaultError:
        `invalid` for a bad name, spec or target, `unsupported` when this job cannot show the kind, `limit` when too
        many are live.
        """
        record, created = self.preview(name, spec, at_seconds=at_seconds, next_step=next_step)
        if self._live.get(name) is record:
            return record, False
        self.advance(at_seconds, next_step)
        self._archive.drop(name)
        record = self._course.begun(record)
        self._live[name] = record
        self._events.append(self._event(record, "created" if created else "replaced", record.describe()))
        return record, created

    def unused_name(self, kind: str) -> str:
        """A name for a fault that brings none: its kind and a number, the same in every run that puts the same."""
        stem = kind.replace("_", "-")
        names = (f"{stem}-{number}" for number in itertools.count(self._named + 1))
        return next(name for name in names if name not in self._live and name not in self._archive)

    def put_unnamed(self, spec: FaultSpec, *, at_seconds: float, next_step: int) -> FaultRecord:
        """As `put`, under a new name."""
        record, _ = self.put(self.unused_name(spec.kind), spec, at_seconds=at_seconds, next_step=next_step)
        self._named += 1
        return record

    def preview_change(self, name: str, change: FaultChange, *, at_seconds: float, next_step: int) -> FaultRecord:
        """What `change` would return or raise, without doing it."""
        record = self.find(name)
        if record is None:
            raise FaultError.at("/name", "ended long ago; it can be put again", code="over")
        changed = change.applied(record, at_seconds=at_seconds, next_step=next_step)
        check_intensity(changed.spec)
        return changed

    def change(self, name: str, change: FaultChange, *, at_seconds: float, next_step: int) -> FaultRecord:
        """Change a live fault; nothing, and no event, when it is as wished already.

        KeyError for a name never seen, FaultError `over` when it is too late for the change.
        """
        self.advance(at_seconds, next_step)
        changed = self.preview_change(name, change, at_seconds=at_seconds, next_step=next_step)
        before, self._live[name] = self._live[name], changed
        self._events.extend(self._event(changed, event, detail) for event, detail in changes(before, changed))
        return changed

    def clear(
        self, name: str, *, at_seconds: float, immediate: bool = False, next_step: int | None = None
    ) -> FaultRecord | None:
        """End a fault, with its ramp down unless `immediate`; one that has ended already stays as it is.

        None for one that ended too long ago to be kept; KeyError for a name never seen. `next_step` is for the event.
        """
        record = self._live.get(name)
        if record is None:
            return self._archive.find(name)
        self._note_time(at_seconds, next_step)
        if immediate or record.cleared_at is None:
            record = record.cleared(at_seconds, immediate=immediate)
        record, events = self._follow(record)
        self._events.extend(events)
        return record

    def clear_all(self, *, at_seconds: float, next_step: int | None = None) -> None:
        """End every fault at once."""
        for name in sorted(self._live):
            self.clear(name, at_seconds=at_seconds, immediate=True, next_step=next_step)

    def abort_all(self, *, at_seconds: float, next_step: int | None = None) -> int:
        """The run itself ends, and its faults with it; how many of them were live."""
        self._note_time(at_seconds, next_step)
        names = sorted(self._live)
        for name in names:
            record = replace(self._live[name], told="aborted")
            self._keep(record)
            self._events.append(self._event(record, "aborted", "the run ended"))
        return len(names)

    def get(self, name: str) -> FaultRecord:
        """The fault of that name, live or ended. KeyError when there is none, or none any more."""
        return self._live[name] if name in self._live else self._archive.records[name]

    def find(self, name: str) -> FaultRecord | None:
        """As `get`, but None for one that ended too long ago to be kept; KeyError for a name never seen."""
        return self._live[name] if name in self._live else self._archive.find(name)

    def list(
        self,
        *,
        state: State | None = None,
        kind: str | None = None,
        rank: int | None = None,
        at_seconds: float | None = None,
    ) -> Records:
        """Faults in the order of their names, ended ones included; the first three arguments narrow the choice.

        States are those at `at_seconds`, by default the latest time that the book has heard of.
        """
        at = self._at if at_seconds is None else at_seconds
        return [
            record
            for _, record in sorted({**self._live, **self._archive.records}.items())
            if (state is None or record.level(at)[0] == state)
            and (kind is None or record.spec.kind == kind)
            and (rank is None or record.hits(rank))
        ]

    def advance(self, at_seconds: float, step: int) -> tuple[FaultEvent, ...]:
        """Time has come to `at_seconds`, and `step` is the first that can feel it.

        Returns the changes of state that this brought; they are on the queue of `drain_events` too.
        """
        self._note_time(at_seconds, step)
        events = tuple(event for name in sorted(self._live) for event in self._follow(self._live[name])[1])
        self._events.extend(events)
        return events

    def drain_events(self) -> Events:
        """Every event since the last call, in order. Only the latest MAX_EVENTS are kept for it."""
        events = [*self._events]
        self._events.clear()
        return events

    def effects(self, at_seconds: float) -> Effects:
        """What all faults together do to the job now. The order in which they were put does not matter."""
        return self._course.effects(self._acting(at_seconds))

    @property
    def treatments(self) -> tuple[Treatment, ...]:
        """The remedies that were applied, in their order."""
        return self._course.treatments

    def treat(
        self,
        spec: RemedySpec,
        *,
        at_seconds: float,
        next_step: int,
        restart_seconds: float,
        end_cured: bool = True,
    ) -> tuple[Treatment, Names]:
        """Apply a remedy: it acts on every fault that has begun. Also the names of those that it ended.

        `restart_seconds` is what a start of this job takes. Without `end_cured` faults that it cures stay in the book,
        and do nothing: to look for them costs as much as many ticks. Raises FaultError as `RemedySpec.dose`, or for
        too many.
        """
        self.advance(at_seconds, next_step)
        treatment = self._course.treat(
            spec, self._live.values(), at_seconds=at_seconds, next_step=next_step, restart_seconds=restart_seconds
        )
        ended = sorted(record.name for record in self._course.cured(self._live.values())) if end_cured else []
        for name in ended:
            self.clear(name, at_seconds=at_seconds, immediate=True, next_step=next_step)
        return treatment, ended

    def forget_treatments(self) -> None:
        """The job is set up again as it was at first."""
        self._course.forget()

    def acting(self, at_seconds: float) -> Records:
        """The faults that act on the job now, in the order of their names."""
        return [record for record, _ in self._acting(at_seconds)]

    def active_views(self, at_seconds: float) -> Views:
        """The faults that act on the job now, in the order of their names."""
        return [
            ActiveView(record.name, record.spec.kind, record.target_text, intensity)
            for record, intensity in self._acting(at_seconds)
        ]

    def _acting(self, at_seconds: float) -> Iterator[tuple[FaultRecord, float]]:
        for _, record in sorted(self._live.items()):
            intensity = record.intensity(at_seconds)
            if intensity > 0.0:
                yield record, intensity

    def _note_time(self, at_seconds: float, step: int | None) -> None:
        self._at = at_seconds
        self._step = self._step if step is None else step

    def _follow(self, record: FaultRecord) -> tuple[FaultRecord, Events]:
        """Keep the record, in the state that it has come to, and say what happened to it on the way."""
        state = record.level(self._at)[0]
        if state == record.told:
            self._keep(record)
            return record, []
        happened = events_between(record.told, state)
        if "started" in happened and record.effective_from_step is None:
            record = replace(record, effective_from_step=self._step)
        record = self._course.begun(replace(record, told=state))
        self._keep(record)
        return record, [self._event(record, event) for event in happened]

    def _keep(self, record: FaultRecord) -> None:
        """Put the record where it belongs: among the live, or with those that ended."""
        if record.told in ENDED:
            del self._live[record.name]
            self._archive.add(record)
        else:
            self._live[record.name] = record

    def _event(self, record: FaultRecord, event: Event, detail: str = "") -> FaultEvent:
        return FaultEvent(record.spec.kind, record.name, event, self._at, self._step, detail)
