"""One moment of the engine, for readers who need several things of the same run."""

from __future__ import annotations

from dataclasses import dataclass

from simulator.history import Averages, Sample
from simulator.job import JobSpec
from simulator.observation import Tick


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What the engine says at one moment; all of it is about the run of `tick`."""

    tick: Tick
    spec: JobSpec
    samples: tuple[Sample, ...]
    """The history of the run, oldest first; the last one is of `tick`."""
    averages: Averages | None
    """Over the last minute; None before the second tick."""
    lag_seconds: float
    skipped_seconds: float
    last_event: int
    """`seq` of the newest entry of the journal."""
    failure: str | None


@dataclass(frozen=True, slots=True)
class Started:
    """A job that has just been started in the place of another."""

    tick: Tick
    """Its first."""
    faults_ended: int
    """Live faults of the run before it, which ended with that run."""
