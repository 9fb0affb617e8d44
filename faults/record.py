"""One fault of one run as it stands, the events of its life, and what a reader may see of it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from faults.effects import Topology
from faults.errors import FaultError
from faults.kind import Application
from faults.life import ENDED, Event, State
from faults.resolved import listing
from faults.schedule import Level, intensity_at
from faults.spec import FaultSpec

NAME_PATTERN = "^[a-z0-9]([a-z0-9._-]{0,62}[a-z0-9])?$"
"""What the name of a fault looks like, for JSON Schema."""


def validate_name(name: object) -> str:
    """`name` when it can name a fault; FaultError at /name otherwise."""
    if isinstance(name, str) and re.fullmatch(NAME_PATTERN, name):
        return name
    detail = "must be 1 to 64 of the characters a-z 0-9 . _ - and begin and end with a letter or digit"
    raise FaultError.at("/name", detail)


@dataclass(frozen=True, slots=True)
class FaultEvent:
    """One change in the life of a fault."""

    kind: str
    name: str
    event: Event
    at_seconds: float
    """Seconds since the run began."""
    step: int
    """First step that can feel the change."""
    detail: str

    def to_mapping(self) -> dict[str, object]:
        """As JSON."""
        return asdict(self)


class ActiveView(NamedTuple):
    """A fault that acts on the job now."""

    name: str
    kind: str
    target: str
    intensity: float


@dataclass(frozen=True, slots=True, eq=False)
class FaultRecord:
    """A fault that was put, at one moment of its life. Times are seconds since the run began, unless they say Unix."""

    name: str
    spec: FaultSpec
    """With its target and seed filled in."""
    ranks: NDArray[np.int64]
    """The ranks hit, sorted; read-only."""
    target_text: str
    put_at: float
    created_at: float
    """Unix seconds by the clock of the run."""
    effective_from_step: int | None = None
    """First step that can feel the fault as it is now; None until it has started."""
    began: int | None = None
    """Its place among everything that began in this run; None until it has started."""
    cleared_at: float | None = None
    immediate: bool = False
    is_paused: bool = False
    resumed_at: float | None = None
    """When the clock of its schedule last began to go again; None when it never stood."""
    clock_seconds: float = 0.0
    """What that clock had when it last stood. Kept, not summed up, so that no rounding turns time back."""
    told: State = "pending"
    """The state that the last event left it in; one of ENDED is final."""
    listed: Mapping[str, object] | None = None
    """`listing` of the ranks, which admission makes once; None: at each showing."""

    def hits(self, rank: int) -> bool:
        """Whether this rank is among its targets."""
        index = int(np.searchsorted(self.ranks, rank))
        return index < len(self.ranks) and int(self.ranks[index]) == rank

    def elapsed(self, at_seconds: float) -> float:
        """Seconds on the clock of its schedule, which stands still while the fault is paused."""
        return self.clock_seconds if self.is_paused else at_seconds - self._going_since + self.clock_seconds

    @property
    def _going_since(self) -> float:
        return self.put_at if self.resumed_at is None else self.resumed_at

    def level(self, at_seconds: float) -> Level:
        """State and share (0 to 1) of the spec's intensity."""
        if self.told in ENDED:
            return self.told, 0.0
        cleared = None if self.cleared_at is None else self.elapsed(self.cleared_at)
        state, level = intensity_at(self.spec, self.elapsed(at_seconds), cleared, immediate=self.immediate)
        return state, 0.0 if self.is_paused else level

    def paused(self, at_seconds: float) -> FaultRecord:
        """The fault with the clock of its schedule stopped."""
        return self if self.is_paused else replace(self, is_paused=True, clock_seconds=self.elapsed(at_seconds))

    def resumed(self, at_seconds: float) -> FaultRecord:
        """The fault with the clock of its schedule going on from where it stood."""
        return replace(self, is_paused=False, resumed_at=at_seconds) if self.is_paused else self

    def cleared(self, at_seconds: float, *, immediate: bool) -> FaultRecord:
        """The fault on its way to its end; one that is paused has nothing to ramp down from."""
        now = self.resumed(at_seconds)
        return replace(now, cleared_at=at_seconds, immediate=immediate or self.is_paused)

    def intensity(self, at_seconds: float) -> float:
        """Effective intensity, 0 to 1."""
        return self.spec.intensity * self.level(at_seconds)[1]

    def application(self, intensity: float, topology: Topology) -> Application:
        """What the kind needs to apply this fault."""
        assert self.spec.seed is not None, "a book fills seeds in"
        return Application(self.name, self.spec.seed, self.ranks, intensity, self.spec.params, topology)

    def to_mapping(self, at_seconds: float) -> dict[str, object]:
        """The fault as the API shows it: its spec, target and seed filled in, and the read-only fields."""
        state, level = self.level(at_seconds)
        return {
            "name": self.name,
            **self.spec.to_mapping(),
            "state": state,
            "paused": self.is_paused,
            **(self.listed or listing(self.ranks)),
            "effective_intensity": self.spec.intensity * level,
            "effective_from_step": self.effective_from_step,
            "created_at": _rfc3339(self.created_at),
            "expires_at": self._expires_at(),
        }

    def describe(self) -> str:
        """The fault in a few words, for the event log."""
        params = "".join(f", {name} {value}" for name, value in self.spec.params.items())
        return f"target {self.target_text}, intensity {self.spec.intensity:g}{params}"

    def _expires_at(self) -> str | None:
        """When the duration is over; None without one, in a pause, and once something else has ended the fault."""
        duration = self.spec.duration_seconds
        over = self.cleared_at is not None or self.told in ("cleared", "aborted")
        if duration is None or over or self.is_paused:
            return None
        paused = self._going_since - self.put_at - self.clock_seconds
        return _rfc3339(self.created_at + paused + self.spec.start_after_seconds + duration)


def _rfc3339(unix_seconds: float) -> str:
    return datetime.fromtimestamp(unix_seconds, tz=UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
