"""From the trace of one step to what the API says of it."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np

from simulator.names import PHASES
from simulator.observation import Collectives, Floats, RunInfo, StepTrace
from simulator.traced import buckets
from stepscope.api.models.base import PhaseValues
from stepscope.api.models.state import BandView, BucketView, CollectivesView, RankTimeline, StepView

_BAND = (5.0, 95.0)
_BARRIER = PHASES.index("collective_wait")


def step_view(step: StepTrace, info: RunInfo, ranks: range, *, healthy: bool) -> StepView:
    """The timeline of a step on these ranks, and of all of them together."""
    early, late = np.percentile(step.starts + step.seconds, _BAND, axis=1)
    # Who is there first waits longest: the mirror of what the slowest rank is named by.
    fastest = int(step.starts[_BARRIER].argmin())
    return StepView(
        healthy=healthy,
        run=info.run,
        step=step.step,
        start_seconds=step.start_seconds,
        duration_seconds=step.duration_seconds,
        slowest_rank=step.slowest_rank,
        slowest=_timeline(step, step.slowest_rank),
        fastest=_timeline(step, fastest),
        band=BandView(early=_values(early), late=_values(late)),
        collectives=None if step.collectives is None else _collectives(step.collectives),
        ranks_total=info.ranks,
        ranks=[_timeline(step, rank) for rank in ranks],
    )


def column(phases: Floats | None, rank: int) -> PhaseValues:
    """One rank of an array by phases and ranks; zeros without one."""
    return _values(np.zeros(len(PHASES)) if phases is None else phases[:, rank])


def _timeline(step: StepTrace, rank: int) -> RankTimeline:
    return RankTimeline(rank=rank, starts=column(step.starts, rank), seconds=column(step.seconds, rank))


def _values(values: Floats) -> PhaseValues:
    return PhaseValues(**dict(zip(PHASES, values.tolist(), strict=True)))


def _collectives(found: Collectives) -> CollectivesView:
    return CollectivesView.model_validate(
        {
            "kind": found.kind,
            "mode": found.mode,
            "count": len(found.seconds) if found.mode != "none" else 0,
            "busy_seconds": float(found.seconds.sum()),
            "barrier_seconds": float(found.arrivals.max()),
            "bubble_seconds": found.bubble_seconds,
            "buckets": [BucketView(**asdict(bucket)) for bucket in buckets(found)],
        }
    )
