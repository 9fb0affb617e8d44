"""Runs of the simulator, seen as a Prometheus that scrapes every 15 s sees them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from diagnosis.engine import diagnose
from diagnosis.series import Series
from diagnosis.ticks import series_of
from diagnosis.verdict import Diagnosis
from faults.spec import INTENSITIES, FaultSpec
from simulator.headless import start
from simulator.job import JobSpec
from simulator.presets import PRESETS

ONSET_SECONDS, WATCHED_SECONDS, SCRAPE_SECONDS = 120, 120, 15


def fault(
    kind: str, *, severity: str = "severe", ranks: Sequence[int] = (), nodes: Sequence[int] = (), **params: object
) -> FaultSpec:
    """A fault that sets in after two healthy minutes and stays."""
    mode, value = ("nodes", nodes) if nodes else ("ranks", ranks)
    target = {"target": {"mode": mode, "value": list(value)}} if value else {}
    spec = {"kind": kind, "params": params, "intensity": INTENSITIES[severity], "open_ended": True, **target}
    return replace(FaultSpec.from_mapping(spec), start_after_seconds=float(ONSET_SECONDS))


def seen(
    preset: str, *faults: FaultSpec, seed: int = 3, watched: int = WATCHED_SECONDS, every: int = SCRAPE_SECONDS
) -> Series:
    """Two healthy minutes and what came after."""
    return seen_of(PRESETS[preset], *faults, seed=seed, watched=watched, every=every)


def seen_of(
    spec: JobSpec, *faults: FaultSpec, seed: int = 3, watched: int = WATCHED_SECONDS, every: int = SCRAPE_SECONDS
) -> Series:
    """The same of any job."""
    run = start(spec, seed=seed, faults=faults)
    ticks = [run.advance() for _ in range(ONSET_SECONDS + watched)]
    return series_of(ticks[every - 1 :: every])


def judged(preset: str, *faults: FaultSpec, seed: int = 3, watched: int = WATCHED_SECONDS) -> Diagnosis:
    """The verdicts two minutes into the faults."""
    return diagnose(seen(preset, *faults, seed=seed, watched=watched))


def named(diagnosis: Diagnosis) -> list[tuple[str, tuple[str, ...]]]:
    """Cause and ranks of every verdict, first one first."""
    return [(verdict.cause, verdict.culprit.ranks if verdict.culprit else ()) for verdict in diagnosis.verdicts]
