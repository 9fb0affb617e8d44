"""Late batches: what they cost, on how many ranks at once, and whose they are."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from diagnosis import thresholds as limit
from diagnosis.cause import Case
from diagnosis.compare import persistent, rise
from diagnosis.window import STALL, Window, low, middle
from simulator.observation import Floats


@dataclass(frozen=True, slots=True)
class Lateness:
    """How late batches are, in seconds per step, and on how many ranks at once."""

    seconds: float
    """What it costs the job."""
    ranks: Floats
    """(R,) wait of each rank beyond its earlier one."""
    at_once: float
    """How many ranks are late in a step, in the mean."""

    @property
    def late(self) -> NDArray[np.int64]:
        """Ranks that are late for a good part of what it costs."""
        return np.flatnonzero(self.ranks > 0.5 * self.seconds)


def lateness(case: Case, *, least: float | None = None) -> Lateness | None:
    """Late batches of the window; None when they cost the job no more than `least`, a share of the step."""
    now, before, step = case.now, case.before, case.step_seconds
    if not step > 0 or not np.isfinite(now.data_wait).any():
        return None
    handover = np.full(now.series.ranks, limit.HANDOVER_SHARE * step)
    usual = handover if before is None else np.nan_to_num(before.data_wait)
    ranks = np.maximum(0.0, np.nan_to_num(now.data_wait - usual))
    waited = None if before is None else low(before.communication + before.data_wait)
    waiting = rise(case, low(now.communication + now.data_wait), waited)
    seconds = min(float(ranks.sum()), waiting)
    threshold = limit.INPUT_BOUND if before is None else limit.INPUT_RISE
    if seconds <= (threshold if least is None else least) * step:
        return None
    return Lateness(seconds, ranks, float(ranks.sum()) / seconds)


def draining(case: Case) -> NDArray[np.int64]:
    """Ranks of whole nodes whose loader queue is much emptier than before, and has not recovered within the window.

    A tail makes queues look emptier too, but at random.
    """
    nobody = np.array([], dtype=np.int64)
    if case.before is None or case.now.scrapes < limit.LEAST_SCRAPES_TREND:
        return nobody
    queue = case.now.series.rank["training_dataloader_queue_batches"]
    fill = case.now.queue_fill
    with np.errstate(invalid="ignore"):
        # A batch more or less is where in a step the scrape fell.
        falls = (np.diff(queue, axis=0) <= 1).all(axis=0) & (queue[-1] <= queue[0] - 1)
        empty = falls & (fill < limit.QUEUE_DRAINED * case.before.queue_fill)
    ranks = np.flatnonzero(empty)
    return ranks if len(ranks) == len(empty) or (len(ranks) and case.whole_nodes(ranks)) else nobody


def mode_of(case: Case, late: Lateness) -> tuple[str, NDArray[np.int64]]:
    """tail, node, rank or uniform, and the ranks to name."""
    nobody = np.array([], dtype=np.int64)
    every = case.now.series.ranks
    if len(late.late) >= 0.8 * every and late.at_once > 0.5 * every:
        return "uniform", nobody
    if late.at_once > limit.LATE_AT_ONCE_TAIL and case.whole_nodes(late.late):
        return "node", late.late
    few = 0 < len(late.late) <= 0.5 * every and late.ranks[late.late].sum() > 0.8 * late.ranks.sum()
    # One late batch in a few steps is anybody's bad luck.
    if few and case.now.steps >= limit.LEAST_STEPS_TO_BLAME and _same(case, late):
        return "same ranks", late.late
    return "tail", nobody


def long_steps(now: Window, before: Window) -> tuple[float, float]:
    """Steps of `now` in buckets above every one that steps of `before` fell into, and all its steps.

    A stall of the whole job lengthens steps too, and is no late batch: with stalls in the window none count.
    """
    counts, usual = now.step_counts, before.step_counts
    used = np.flatnonzero(usual > 0)
    if not len(used) or middle(now.phases[STALL]) > limit.HANDOVER_SHARE * now.step_seconds:
        return 0.0, now.steps
    return float(counts[used[-1] + 1 :].sum()), now.steps


def at_boundaries(case: Case) -> bool:
    """Whether a few long steps have all of the lateness: batches are late at the start of a shard, and only there.

    Looked for in the long window, since a shard may last longer than a minute.
    """
    before = case.before
    if before is None:
        return False
    # Late in all steps for a while is a burst, and no boundary.
    for piece in (case.now, *case.pieces):
        few, steps = long_steps(piece, before)
        if steps >= limit.LEAST_STEPS_OF_PIECE and few > limit.LONG_STEP_SHARE * steps:
            return False
    return any(_at_boundaries(replace(case, now=window)) for window in (case.now, case.long))


def _at_boundaries(case: Case) -> bool:
    """As above, within `case.now`; one rank at a time, as a shard is opened by one."""
    now, before = case.now, case.before
    assert before is not None, "boundaries are told from the steps of a better window"
    late = lateness(case, least=0.0)
    if (
        late is None
        or late.at_once > limit.LATE_AT_ONCE_TAIL
        or late.seconds <= limit.HANDOVER_SHARE * now.step_seconds
    ):
        return False
    few, steps = long_steps(now, before)
    hit = int((late.ranks > 0.1 * late.ranks.max()).sum())
    ranks = len(late.ranks)
    if ranks >= limit.LEAST_RANKS_OF_TAIL and limit.LEAST_STEPS_OF_PIECE <= steps <= 2 * ranks:
        # A tail hits another rank in every step; a shard that is being opened is seen before its step has ended.
        if hit > 0.4 * min(steps, ranks):
            return False
        return late.seconds * steps > limit.SHARD_LATENESS * before.step_seconds and not _same(case, late)
    if not 0 < few <= limit.LONG_STEP_SHARE * steps:
        return False
    return late.seconds * steps / few > limit.SHARD_LATENESS * before.step_seconds


def _same(case: Case, late: Lateness) -> bool:
    """Whether the same ranks are late in every interval."""
    usual = np.zeros(len(late.ranks)) if case.before is None else np.nan_to_num(case.before.data_wait)
    pieces = [piece.data_wait - usual for piece in case.pieces]
    return len(pieces) > 1 and len(persistent(pieces, late.late, least=0.25 * late.seconds)) == len(late.late) > 0


def by_cpu(case: Case, late: Lateness, mode: str) -> bool:
    """Whether workers without CPU are the likelier reason: one node's batches, later than slow storage makes them.

    No public series tells the two apart; a process that gets a tenth of its CPU is late by steps, not by parts of one.
    """
    alone = len(case.now.series.nodes) == 1 and mode == "uniform"
    usual = case.before.step_seconds if case.before is not None else case.step_seconds - late.seconds
    return (mode == "node" or alone) and late.seconds > limit.CPU_LATENESS * usual
