"""From per-rank step times to verdicts: a slow worker, a long stage, uneven batches, pauses, late input, or nobody."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from diagnosis import thresholds as limit
from diagnosis.compare import sure
from diagnosis.cost import cost
from diagnosis.ranks.table import COMPUTE, HOST, INPUT, Place, RankTimes
from diagnosis.ranks.whatif import WhatIf, what_if
from diagnosis.registry import causes
from diagnosis.verdict import Culprit, Diagnosis, Evidence, Scope, Verdict
from diagnosis.window import middle
from simulator.observation import Floats


def judge(times: RankTimes, *, name: str, price_per_gpu_hour: float | None = None) -> Diagnosis:
    """The verdicts on a file called `name`. Thin evidence names nobody."""
    analysis = what_if(times)
    step, ranks = analysis.step_seconds, len(times.places)
    why = _too_thin(times)
    verdicts = [] if why else [verdict(price_per_gpu_hour) for verdict in _found(times, analysis)]
    return Diagnosis(
        run=name,
        at_seconds=float("nan"),
        window_seconds=float(np.nansum(times.step_seconds)),
        scrapes=0,
        steps=float(len(times.steps)),
        step_seconds=step,
        cost=cost(analysis.lost_seconds, step_seconds=step, gpus=ranks, price_per_gpu_hour=price_per_gpu_hour),
        verdicts=tuple(sorted(verdicts, key=lambda verdict: (-verdict.cost.seconds_per_step, verdict.cause))),
        pipeline=(),
        abstained=why,
        lost_seconds=_lost(times, analysis),
    )


def _too_thin(times: RankTimes) -> str:
    if len(times.steps) < limit.LEAST_STEPS_OF_FILE:
        return f"{len(times.steps)} steps, {limit.LEAST_STEPS_OF_FILE} are the least that show a habit"
    if len(times.places) < 2:
        return "one rank has no peers to be compared with"
    return ""


def _found(times: RankTimes, analysis: WhatIf) -> Iterator[Callable[[float | None], Verdict]]:
    if analysis.slowdown < limit.SLOWDOWN_WORTH_NAMING:
        return
    pauses, late = analysis.without(times.seconds[HOST]), analysis.without(times.seconds[INPUT])
    stage = _long_stage(times, analysis)
    workers = _slow_workers(times, analysis)
    if stage is not None:
        yield _verdict(times, analysis, "stage_imbalance", stage, "stage")
    if len(workers):
        yield _verdict(times, analysis, "straggler", _mask(times, workers), "worker")
    for cause, share in (("gc_pause", pauses), ("io_starvation", late)):
        if share > limit.SHARE_EXPLAINED:
            yield _verdict(times, analysis, cause, None, "rank", share=share)
    explained = max(pauses, late)
    if stage is None and not len(workers) and explained <= limit.SHARE_EXPLAINED and _uneven(times, analysis):
        yield _verdict(times, analysis, "sequence_imbalance", None, "rank", share=1.0 - explained)


def _long_stage(times: RankTimes, analysis: WhatIf) -> NDArray[np.bool_] | None:
    """The ranks of the stage that is longer than the others on every worker; None when there is none."""
    stages = sorted({place.stage for place in times.places if place.stage is not None}, key=_in_order)
    if len(stages) < 2:
        return None
    of_stage = {stage: np.array([place.stage == stage for place in times.places]) for stage in stages}
    usual = {stage: _habit(analysis.compute[:, chosen]) for stage, chosen in of_stage.items()}
    typical = {stage: middle(values) for stage, values in usual.items()}
    longest = max(typical, key=lambda stage: typical[stage])
    others = middle(np.array([value for stage, value in typical.items() if stage != longest]))
    everywhere = float(np.fmin.reduce(usual[longest]))
    if not everywhere > (1 + limit.STAGE_EXCESS_HIGH) * others:
        return None
    chosen = of_stage[longest]
    return chosen if analysis.explained(chosen) > limit.SHARE_EXPLAINED else None


def _slow_workers(times: RankTimes, analysis: WhatIf) -> NDArray[np.int64]:
    """Ranks that are slower than the peers of their stage in nearly every step, and cost the job something."""
    slow = []
    stages = [place.stage for place in times.places]
    for stage in sorted(set(stages), key=lambda value: _in_order(value or "")):
        members = np.flatnonzero([other == stage for other in stages])
        if len(members) < 2:
            continue
        with np.errstate(invalid="ignore", divide="ignore"):
            beyond = analysis.compute[:, members] / _peers(analysis.compute[:, members]) - 1.0
        known = np.isfinite(beyond)
        often = (known & (beyond > limit.WORK_EXCESS_HIGH)).sum(axis=0) / np.maximum(1, known.sum(axis=0))
        habitual = (often >= limit.SHARE_OF_STEPS) & (_habit(beyond) > limit.WORK_EXCESS_HIGH)
        slow += members[habitual].tolist()
    found = np.array(slow, dtype=np.int64)
    if not len(found) or analysis.explained(_mask(times, found)) <= limit.SHARE_EXPLAINED:
        return np.array([], dtype=np.int64)
    return found


def _peers(compute: Floats) -> Floats:
    """(S, R) median over the other ranks of each step."""
    columns = [np.nanmedian(np.delete(compute, rank, axis=1), axis=1) for rank in range(compute.shape[1])]
    return np.array(columns).T


def _uneven(times: RankTimes, analysis: WhatIf) -> bool:
    """Whether another rank is the slowest from step to step, and none is slow by habit."""
    spread = np.fmax.reduce(analysis.compute, axis=1) / np.nanmean(analysis.compute, axis=1) - 1.0
    habit = _habit(analysis.compute)
    steady = float(np.fmax.reduce(habit)) / middle(habit) - 1.0
    return middle(spread) > limit.WORK_EXCESS_HIGH and middle(spread) > 2.0 * steady


def _habit(values: Floats) -> Floats:
    """(R,) median over the steps."""
    median: Floats = np.nanmedian(values, axis=0)
    return median


def _mask(times: RankTimes, ranks: NDArray[np.int64]) -> NDArray[np.bool_]:
    return np.isin(np.arange(len(times.places)), ranks)


def _verdict(
    times: RankTimes,
    analysis: WhatIf,
    cause: str,
    chosen: NDArray[np.bool_] | None,
    scope: Scope,
    *,
    share: float | None = None,
) -> Callable[[float | None], Verdict]:
    explained = share if share is not None else analysis.explained(_given(chosen))
    known = causes()[cause]
    culprit = None if chosen is None else _culprit([times.places[i] for i in np.flatnonzero(chosen)], scope)
    evidence = [Evidence("share of the slow-down that goes with it", explained, limit.SHARE_EXPLAINED, "ratio")]
    if chosen is not None:
        mine, others = _habit(analysis.compute)[chosen], _habit(analysis.compute)[~chosen]
        evidence.append(Evidence("compute per step, median of them", middle(mine), middle(others), "s"))
    who = f": {culprit.describe()}" if culprit else ""

    def made(price: float | None) -> Verdict:
        lost = explained * analysis.lost_seconds
        return Verdict(
            cause=cause,
            summary=f"{known.title}{who}",
            culprit=culprit,
            evidence=tuple(evidence),
            cost=cost(lost, step_seconds=analysis.step_seconds, gpus=len(times.places), price_per_gpu_hour=price),
            chronic=_chronic(times, analysis, chosen, cause),
            confidence=sure(explained, limit.SHARE_EXPLAINED),
            confirm=known.confirm,
            remedy=known.remedy,
            detail="",
        )

    return made


def _given(chosen: NDArray[np.bool_] | None) -> NDArray[np.bool_]:
    assert chosen is not None, "a verdict without ranks says what it explains"
    return chosen


def _chronic(times: RankTimes, analysis: WhatIf, chosen: NDArray[np.bool_] | None, cause: str) -> bool:
    """Whether it is there in most steps, and not in a few long ones."""
    if chosen is None:
        seconds = {"gc_pause": times.seconds[HOST], "io_starvation": times.seconds[INPUT]}.get(
            cause, times.seconds[COMPUTE]
        )
        hit = np.fmax.reduce(np.nan_to_num(seconds), axis=1) > limit.WORK_EXCESS_HIGH * analysis.step_seconds
        return bool(hit.mean() >= 0.5)
    slow = np.nanmedian(analysis.compute[:, chosen], axis=1)
    others = np.nanmedian(analysis.compute[:, ~chosen], axis=1)
    return bool((slow > (1 + limit.WORK_EXCESS_HIGH) * others).mean() >= limit.SHARE_OF_STEPS)


def _culprit(places: Sequence[Place], scope: Scope) -> Culprit:
    """`worker` names data-parallel ranks where the file has them; `stage` the stages."""
    if scope == "stage":
        return Culprit("stage", tuple(place.rank for place in places), stages=tuple(_unique(p.stage for p in places)))
    workers = tuple(_unique(place.dp_rank for place in places))
    return Culprit("worker" if workers else "rank", tuple(place.rank for place in places), workers=workers)


def _unique(values: Iterator[str | None] | Sequence[str | None]) -> list[str]:
    return sorted({value for value in values if value is not None}, key=_in_order)


def _in_order(text: str) -> tuple[int, int | str]:
    return (0, int(text)) if text.isascii() and text.isdigit() and len(text) < 19 else (1, text)


def _lost(times: RankTimes, analysis: WhatIf) -> dict[str, float]:
    """Seconds per step that mending each rank alone would save, for those where it would save any."""
    slowest = np.fmax.reduce(analysis.own, axis=1)
    order = np.sort(np.nan_to_num(analysis.own, nan=-np.inf), axis=1)
    second = order[:, -2] if analysis.own.shape[1] > 1 else slowest
    alone = np.where(analysis.own == slowest[:, None], (slowest - second)[:, None], 0.0).mean(axis=0)
    return {
        times.places[int(rank)].rank: float(alone[rank])
        for rank in np.flatnonzero(alone > 1e-3 * analysis.step_seconds)
    }
