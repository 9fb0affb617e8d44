"""How long a verdict on a large job takes, from the answers of a Prometheus on."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace

from benchmarks.row import Row

RANKS = 1_024
MOST_SECONDS = 1.0


def rows(*, quick: bool) -> Iterator[Row]:
    """Wall time to read, judge and name the slow rank; the answers themselves are there at once."""
    from diagnosis.engine import diagnose
    from simulator.presets import preset
    from stepscope.watching.prometheus import Prometheus
    from stepscope.watching.run import Asked, series
    from tests.diagnosis.runs import fault, named, seen_of
    from tests.watching.stored import URL, Stored

    ranks = 64 if quick else RANKS
    honest = preset("honest-64xh100")
    job = replace(honest, cluster=replace(honest.cluster, nodes=ranks // honest.cluster.gpus_per_node))
    held = seen_of(job, fault("straggler", ranks=[17]))
    at = float(held.times[-1])
    stored = Stored(held)
    bodies: dict[bytes, bytes] = {}

    def fetch(url: str, form: bytes, seconds: float) -> bytes:
        if form not in bodies:
            bodies[form] = stored(url, form, seconds)
        return bodies[form]

    taken = []
    for _ in range(2 if quick else 6):
        started = time.perf_counter()
        verdicts = diagnose(series(Prometheus(URL, fetch=fetch), Asked(held.run, at, 60.0, 15.0)), at=at)
        taken.append(time.perf_counter() - started)
        assert named(verdicts) == [("straggler", ("17",))]
    # The first of them made the answers.
    best = sorted(taken[1:])[len(taken[1:]) // 2]
    megabytes = sum(map(len, bodies.values())) / 2**20
    detail = f"{len(bodies)} answers, {megabytes:.1f} MiB of JSON; median of {len(taken) - 1}; names the slow rank"
    yield Row(f"verdict on {ranks:,} ranks from a Prometheus", best, "s", below=MOST_SECONDS, detail=detail)
