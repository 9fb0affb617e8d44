"""Scenarios that are played: each is a new run of the engine, with all its faults on their timeline from the start."""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace
from typing import Literal

from faults.errors import FaultError, Problem
from faults.scenario import Scenario
from simulator.engine import Engine
from simulator.presets import PRESETS

KEPT = 64
"""Playbacks remembered; the oldest make room for new ones."""
State = Literal["playing", "over", "stopped", "replaced"]


@dataclass(frozen=True, slots=True)
class Playback:
    """A scenario on the engine."""

    id: str
    scenario: Scenario
    seed: int
    speed: float
    run: str
    """Label of the run that it made."""
    started_at: float
    """Unix seconds."""
    faults: tuple[str, ...]
    stopped: bool = False


class Playbacks:
    """What has been played on one engine. May be used from any thread."""

    def __init__(self, engine: Engine, *, kept: int = KEPT) -> None:
        self._engine = engine
        self._kept = kept
        self._lock = threading.Lock()
        self._playbacks: dict[str, Playback] = {}
        self._count = 0

    def play(self, scenario: Scenario, *, seed: int | None = None, speed: float = 1.0) -> Playback:
        """Begin: a new run takes the place of the present one.

        `speed` compresses the timeline, never the job's clock. FaultError, and nothing changed, where the job is
        unknown or cannot show one of the faults.
        """
        if scenario.preset not in PRESETS:
            raise FaultError.at("/preset", f"must be one of {', '.join(PRESETS)}")
        faults = scenario.faults(speed=speed)
        seed = scenario.seed if seed is None else seed
        with self._lock:
            try:
                started = self._engine.start_job(scenario.preset, seed=seed, faults=faults)
            except FaultError as error:
                raise _placed(error, scenario) from None
            self._count += 1
            tick = started.tick
            playback = Playback(
                id=f"{scenario.id}-{self._count}",
                scenario=scenario,
                seed=seed,
                speed=speed,
                run=tick.info.run,
                started_at=tick.timestamp - tick.seconds,
                faults=tuple(faults),
            )
            self._playbacks[playback.id] = playback
            while len(self._playbacks) > self._kept:
                del self._playbacks[next(iter(self._playbacks))]
        return playback

    def get(self, id_: str) -> Playback:
        """One of them. KeyError for an id never given out, or too long ago."""
        return self._playbacks[id_]

    def list(self) -> list[Playback]:
        """All that are remembered, the oldest first."""
        with self._lock:
            return list(self._playbacks.values())

    def stop(self, id_: str) -> None:
        """Take back what is left of it: its faults are cleared at once, the run goes on. KeyError as `get`."""
        with self._lock:
            playback = self._playbacks[id_]
            if self.state(playback) != "playing":
                return
            if self._engine.clear_faults(playback.faults, run=playback.run):
                self._playbacks[id_] = replace(playback, stopped=True)

    def state(self, playback: Playback) -> State:
        """Where it is."""
        if playback.stopped:
            return "stopped"
        if self._engine.run_label != playback.run:
            return "replaced"
        return "over" if self.elapsed(playback) >= playback.scenario.duration_seconds else "playing"

    def elapsed(self, playback: Playback) -> float:
        """Seconds of its timeline that have passed."""
        tick = self._engine.tick
        if tick is None or tick.info.run != playback.run:
            return 0.0
        return min(tick.seconds * playback.speed, playback.scenario.duration_seconds)


def _placed(error: FaultError, scenario: Scenario) -> FaultError:
    """The error of some fault, at its place in the scenario's timeline."""
    problems = []
    for problem in error.problems:
        _, name, *rest = problem.pointer.split("/")
        moment = scenario.fault_names.index(name)
        problems.append(Problem("/".join((f"/timeline/{moment}/fault", *rest)), problem.detail))
    return FaultError(problems, code=error.code)
