"""The lab as the routes see it: the engine, its pages, its settings."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Annotated

from fastapi import Depends, Request

from exporter.pages import Pages
from simulator.engine import Engine
from simulator.observation import Tick
from simulator.snapshot import Snapshot
from simulator.traced import HealthySteps
from stepscope.api.calculator import Calculator
from stepscope.api.diagnoses import Diagnoses
from stepscope.api.dry_runs import DryRuns
from stepscope.api.fresh import Fresh
from stepscope.api.idempotency import Answers
from stepscope.api.models.faults import FaultView
from stepscope.api.playbacks import Playbacks
from stepscope.api.problems import ProblemError
from stepscope.api.reference import Reference
from stepscope.api.settings import Settings
from stepscope.exam.exam import Exam


@dataclass(frozen=True, slots=True)
class Lab:
    """What one application serves."""

    engine: Engine
    pages: Pages
    settings: Settings
    reference: Reference = field(default_factory=Reference)
    fresh: Fresh = field(default_factory=Fresh)
    healthy_steps: HealthySteps = field(default_factory=HealthySteps)
    calculator: Calculator = field(default_factory=Calculator)
    diagnoses: Diagnoses = field(default_factory=Diagnoses)
    dry_runs: DryRuns = field(default_factory=DryRuns)
    posted: Answers[FaultView] = field(default_factory=Answers)
    """Answers to POST of a fault, by Idempotency-Key."""

    playbacks: Playbacks = field(init=False)
    """Scenarios that have been played."""
    exam: Exam = field(init=False)
    """The exam, if there is one."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "playbacks", Playbacks(self.engine))
        object.__setattr__(self, "exam", Exam(self.engine))

    def now(self) -> Snapshot:
        """Everything about the newest finished second at once; 503 before the first."""
        snapshot = self.engine.snapshot()
        if snapshot is None:
            raise _no_tick()
        return snapshot

    def moment(self) -> Hashable:
        """As `moment_of` the newest snapshot, without taking one; 503 before the first."""
        engine = self.engine
        tick = engine.tick
        if tick is None:
            raise _no_tick()
        return (tick.info.run, tick.index, engine.journal.last_seq, engine.failure, round(engine.lag_seconds, 1))


def moment_of(now: Snapshot) -> Hashable:
    """What tells two answers about the run apart: as long as it is equal, they say the same."""
    return (now.tick.info.run, now.tick.index, now.last_event, now.failure, round(now.lag_seconds, 1))


async def _lab(request: Request) -> Lab:
    lab = request.app.state.lab
    assert isinstance(lab, Lab)
    return lab


async def _tick(request: Request) -> Tick:
    tick = (await _lab(request)).engine.tick
    if tick is None:
        raise _no_tick()
    return tick


def _no_tick() -> ProblemError:
    return not_ready("engine: has not finished its first second")


def not_ready(detail: str, *, components: dict[str, str] | None = None) -> ProblemError:
    """503 that says when to come back."""
    extra = {"components": components} if components else None
    return ProblemError(503, "not-ready", f"The lab is not ready: {detail}.", headers={"Retry-After": "1"}, extra=extra)


CurrentLab = Annotated[Lab, Depends(_lab)]
CurrentTick = Annotated[Tick, Depends(_tick)]
"""The last finished tick; answers 503 while there is none."""
