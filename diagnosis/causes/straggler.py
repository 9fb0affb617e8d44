"""A GPU that computes slower than its peers, with nothing on the board to say why."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from diagnosis import thresholds as limit
from diagnosis.cause import Case, Cause
from diagnosis.compare import chance, excess, grown_excess, lead, persistent, standing_out, sure
from diagnosis.verdict import Evidence, Finding
from diagnosis.window import Window, high, low, middle
from simulator.observation import Floats


class Straggler(Cause):
    """Forward and backward of the same ranks are longer than their peers', interval after interval."""

    name = "straggler"
    title = "Ranks compute slower than their peers and everyone waits for them"
    confirm = "nvidia-smi -q -d PERFORMANCE,CLOCK on that node; then run a matrix product on that GPU and a neighbour"
    remedy = "Cordon the GPU or node and restart from the last checkpoint; run its diagnostics (dcgmi diag -r 3)."
    takes = "work"

    def find(self, case: Case) -> Sequence[Finding]:
        """The slow ranks as one finding."""
        ranks = slow_ranks(case)
        if not len(ranks):
            return ()
        now = case.now
        beyond = excess(now.compute)
        others = middle(np.delete(now.compute, ranks))
        few = of_few(now)
        worst = high(now.compute[ranks]) / others - 1.0 if few else high(beyond[ranks])
        named = case.culprit(ranks, "node" if case.whole_nodes(ranks) else "rank")
        wait = now.communication_excess
        slowest = high(now.compute[ranks])
        evidence = (
            Evidence("compute per step, slowest of them", slowest, others if few else middle(now.compute), "s"),
            Evidence("compute beyond the median of the peers", worst, limit.WORK_EXCESS_HIGH, "ratio"),
            Evidence("communication beyond the least of the peers", low(wait[ranks]), middle(wait), "s"),
        )  # fmt: skip
        return (
            self.finding(
                evidence, seconds=lead(now.work, ranks), confidence=sure(worst, limit.WORK_EXCESS_HIGH), culprit=named
            ),
        )


def slow_ranks(case: Case) -> NDArray[np.int64]:
    """Ranks whose compute stands out from their peers', now and in most intervals, beyond what their clock explains."""
    compute = at_one_clock(case.now)
    before = None if case.before is None else at_one_clock(case.before)
    grown = grown_excess(compute, before)
    found = standing_out(grown, least=limit.WORK_EXCESS_HIGH if before is None else limit.WORK_GROWTH_HIGH)
    always = standing_out(excess(compute), least=limit.WORK_EXCESS_HIGH)
    ranks = np.union1d(found, always)
    if of_few(case.now) and not (len(ranks) and case.now.splits_waiting):
        return _behind_the_others(case)
    pieces = [excess(at_one_clock(piece)) for piece in case.pieces]
    ranks = ranks[excess(compute)[ranks] > limit.CHANCE * chance(pieces)]
    return persistent(pieces, ranks, least=limit.WORK_GROWTH_HIGH / 2)


def of_few(window: Window) -> bool:
    """Whether there are too few ranks for a median of peers and a spread around it."""
    ranks = window.series.ranks
    return 1 < ranks <= (limit.FEW_RANKS if window.splits_waiting else limit.FEW_RANKS_UNSPLIT)


def _behind_the_others(case: Case) -> NDArray[np.int64]:
    """Of few ranks those above the widest gap, at most half, that are behind all others in most intervals too."""
    nobody = np.array([], dtype=np.int64)
    compute = _of_all(case.now)
    if not np.isfinite(compute).all() or not low(compute) > 0 or len(case.pieces) < limit.LEAST_INTERVALS_CHRONIC:
        return nobody
    order = np.argsort(compute)
    gaps = compute[order][1:] / compute[order][:-1] - 1.0
    widest = int(gaps.argmax())
    slow, others = np.sort(order[widest + 1 :]), order[: widest + 1]
    seconds = float(compute[slow].min() - compute[others].max())
    worth = gaps[widest] > limit.FEW_LEAD_HIGH and seconds > limit.FEW_LEAD_SHARE * case.step_seconds
    if not worth or len(slow) > len(others):
        return nobody
    pieces = [_of_all(piece) / high(_of_all(piece)[others]) - 1.0 for piece in case.pieces]
    return persistent(pieces, slow, least=limit.FEW_LEAD_HIGH / 2)


def _of_all(window: Window) -> Floats:
    """(R,) compute at one clock, or as it is where a clock does not hold still: of few nobody can be left out."""
    compute = at_one_clock(window)
    return compute if np.isfinite(compute).all() else window.compute


def at_one_clock(window: Window) -> Floats:
    """(R,) compute seconds per step at the clock of the peers; NaN for a rank whose clock does not hold still."""
    samples = window.series.gpu["DCGM_FI_DEV_SM_CLOCK"]
    clock = window.gpu("DCGM_FI_DEV_SM_CLOCK")
    usual = middle(clock)
    if not np.isfinite(usual):
        return window.compute
    with np.errstate(invalid="ignore"):
        restless = (np.fmax.reduce(samples) - np.fmin.reduce(samples)) > limit.CLOCK_RESTLESS * usual
        # Work takes as many cycles at any clock. A board without a reading is taken at its word.
        scaled = window.compute * np.where(np.isfinite(clock), clock / usual, 1.0)
    return np.where(restless, np.nan, scaled)


CAUSES = (Straggler(),)
