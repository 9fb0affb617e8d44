"""One incident: the run, what scrapes saw of it, and what was said at each of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from diagnosis.engine import diagnose
from diagnosis.ticks import series_of
from diagnosis.verdict import Diagnosis, Verdict
from faults.book import FaultBook
from faults.incident import Incident, Severity, random_incident
from simulator.job import JobSpec
from simulator.observation import Tick
from simulator.run import Run, topology_of
from stepscope.evaluation.jobs import jobs
from stepscope.evaluation.truth import Truth, truth_of

SCRAPE_SECONDS = 15
WATCHED_SECONDS = 180
"""How long a run is watched after the onset, and when the verdict that counts is asked for."""
HEALTHY_SHARE, COMPOUND_SHARE = 0.2, 0.15


@dataclass(frozen=True, slots=True)
class Said:
    """What was said at one scrape."""

    seconds: float
    """After the onset; of the run, for a healthy one."""
    causes: tuple[str, ...]
    """In the order of the verdicts."""
    ranks: tuple[frozenset[int], ...]
    """Whom each verdict names; empty for nobody."""


@dataclass(frozen=True, slots=True)
class Played:
    """An incident and what was said about it."""

    index: int
    preset: str
    gpus: int
    severity: Severity
    truths: tuple[Truth, ...]
    """Empty for a healthy run."""
    decoys: tuple[str, ...]
    said: tuple[Said, ...]
    """Oldest first; the last one counts."""


def play(index: int, *, seed: int, kinds: Sequence[str] | None = None) -> Played:
    """The `index`-th incident of a seed."""
    rng = np.random.default_rng([seed, index])
    specs = jobs()
    spec = specs[int(rng.integers(len(specs)))]
    share = rng.random()
    causes = 0 if share < HEALTHY_SHARE else 2 if share < HEALTHY_SHARE + COMPOUND_SHARE else 1
    incident = random_incident(int(rng.integers(2**31)), topology_of(spec), causes=causes, kinds=kinds)
    return played(index, spec, incident, first_scrape=int(rng.integers(1, SCRAPE_SECONDS + 1)))


def played(index: int, spec: JobSpec, incident: Incident, *, first_scrape: int) -> Played:
    """Run `incident` on `spec`, scraped every 15 s from second `first_scrape` on."""
    book = FaultBook(topology_of(spec), seed=incident.seed)
    truths = []
    for name, fault in incident.faults():
        record, _ = book.put(name, fault, at_seconds=0.0, next_step=0)
        if name.startswith("cause"):
            truths.append(truth_of(record, topology_of(spec)))
    run = Run(spec, seed=incident.seed, run="evaluated", faults=book)
    end = incident.onset_seconds + WATCHED_SECONDS
    ticks: list[Tick] = []
    for second in range(1, int(end) + 1):
        tick = run.advance()
        if second % SCRAPE_SECONDS == first_scrape % SCRAPE_SECONDS:
            ticks.append(tick)
    said = tuple(_said(ticks, incident, healthy=not truths))
    return Played(
        index, spec.preset, spec.ranks, incident.severity, tuple(truths),
        tuple(decoy.kind for decoy in incident.decoys), said,
    )  # fmt: skip


def _said(ticks: Sequence[Tick], incident: Incident, *, healthy: bool) -> list[Said]:
    series = series_of(ticks)
    onset = incident.onset_seconds
    asked = [tick for tick in ticks if tick.seconds > onset]
    if healthy:
        # Windows that do not overlap: each is one chance of a false alarm.
        asked = asked[::4]
    return [
        _as_said(diagnose(series, at=tick.timestamp), tick.seconds if healthy else tick.seconds - onset)
        for tick in asked
    ]


def _as_said(diagnosis: Diagnosis, seconds: float) -> Said:
    def ranks(verdict: Verdict) -> frozenset[int]:
        return frozenset(int(rank) for rank in verdict.culprit.ranks) if verdict.culprit else frozenset()

    return Said(
        seconds,
        tuple(verdict.cause for verdict in diagnosis.verdicts),
        tuple(ranks(verdict) for verdict in diagnosis.verdicts),
    )
