"""Series as a real job shows them (`source="job"`): no `collective_wait`, no interfaces, often no boards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from diagnosis.series import GPU_FAMILIES, LINK_FAMILIES, NODE_FAMILIES, RANK_FAMILIES, RUN_FAMILIES, Member, Series
from simulator.names import PHASES, STEP_SECONDS_BUCKETS
from simulator.observation import Floats

SCRAPE_SECONDS = 15.0
START = 1_000_000.0


@dataclass(frozen=True, slots=True)
class Stretch:
    """Intervals between scrapes that are alike: where the ranks' time goes, in seconds per step."""

    intervals: int
    phases: Mapping[str, Sequence[float]]
    """Per rank, by phase. What is missing to the longest rank is `collective`, unless no step ends."""
    steps: bool = True
    """Whether steps end; if not, the phases are shares of wall clock."""
    jitter: float = 0.0
    """Spread of the computing from interval to interval, of each rank by itself."""
    in_collectives: Sequence[float] | None = None
    """Per rank, share of wall clock inside collectives; by default that of the phase."""


def job(ranks: int, *stretches: Stretch, seed: int = 0, util: float = np.nan) -> Series:
    """The series of one node's job after these stretches, one after the other."""
    rng = np.random.default_rng(seed)
    phases, inside, steps, length, last = [np.zeros((len(PHASES), ranks))], [np.zeros(ranks)], [0.0], [0.0], [START]
    for stretch in stretches:
        for _ in range(stretch.intervals):
            share, step = _interval(stretch, ranks, rng)
            phases.append(phases[-1] + SCRAPE_SECONDS * share)
            own = share[PHASES.index("collective")] if stretch.in_collectives is None else stretch.in_collectives
            inside.append(inside[-1] + SCRAPE_SECONDS * np.asarray(own))
            done = SCRAPE_SECONDS / step if stretch.steps else 0.0
            steps.append(steps[-1] + done)
            length.append(length[-1] + done * step)
            last.append(START + SCRAPE_SECONDS * (len(phases) - 1) if stretch.steps else last[-1])
    return _series(ranks, np.array(phases), np.array(inside), np.array(steps), np.array(length), np.array(last), util)


def _interval(stretch: Stretch, ranks: int, rng: np.random.Generator) -> tuple[Floats, float]:
    """(P, R) shares of wall clock, and the length of a step."""
    each = np.zeros((len(PHASES), ranks))
    for name, seconds in stretch.phases.items():
        each[PHASES.index(name)] = seconds
    each[PHASES.index("forward")] *= 1.0 + stretch.jitter * rng.uniform(-1.0, 1.0, ranks)
    step = float(each.sum(axis=0).max()) if stretch.steps else 1.0
    if stretch.steps:
        each[PHASES.index("collective")] += step - each.sum(axis=0)
    return each / step, step


def _series(
    ranks: int, phases: Floats, inside: Floats, steps: Floats, length: Floats, last: Floats, util: float
) -> Series:  # fmt: skip
    count = len(phases)
    phases[:, PHASES.index("collective_wait")] = np.nan
    single = {name: np.full(count, np.nan) for name in RUN_FAMILIES}
    single |= {"training_steps_total": steps, "training_step_seconds_count": steps}
    single |= {"training_step_seconds_sum": length, "training_last_step_timestamp_seconds": last}
    rank = {name: np.full((count, ranks), np.nan) for name in RANK_FAMILIES}
    rank["training_collective_seconds_total"] = inside
    rank["training_collective_bytes_total"] = np.repeat(1e6 * steps[:, None], ranks, axis=1)
    gpu = {name: np.full((count, ranks), np.nan) for name in GPU_FAMILIES}
    gpu["DCGM_FI_DEV_GPU_UTIL"] = np.full((count, ranks), util)
    return Series(
        run="small",
        gpu_model="",
        members=tuple(Member(str(index), 0, "", "") for index in range(ranks)),
        nodes=("host",),
        links=(),
        times=START + SCRAPE_SECONDS * np.arange(count, dtype=np.float64),
        phase_seconds=phases,
        gpu=gpu,
        rank=rank,
        node={name: np.full((count, 1), np.nan) for name in NODE_FAMILIES},
        link={name: np.empty((count, 0)) for name in LINK_FAMILIES},
        single=single,
        buckets=np.full((count, len(STEP_SECONDS_BUCKETS) + 1), np.nan),
        up=np.ones((count, 1)),
        run_up=np.ones(count),
        gpu_up=np.full((count, ranks), np.nan),
    )
