"""From samples to a ranked list of verdicts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from diagnosis import thresholds as limit
from diagnosis.cause import Case
from diagnosis.cost import cost
from diagnosis.pipeline import isolate
from diagnosis.rates import increase
from diagnosis.registry import causes
from diagnosis.series import Series
from diagnosis.standing import down, standing_seconds
from diagnosis.together import together
from diagnosis.verdict import Cost, Diagnosis, Finding, Verdict
from diagnosis.window import OPTIMIZER, STALL, Window, middle

_STEPS = "training_steps_total"


def diagnose(
    series: Series,
    *,
    at: float | None = None,
    window_seconds: float = limit.DIAGNOSIS_WINDOW_SECONDS,
    price_per_gpu_hour: float | None = None,
) -> Diagnosis:
    """Judge the last `window_seconds` before `at` (Unix seconds; by default the newest scrape).

    What came before is what the run is compared with. Nothing after `at` is looked at.
    """
    case = _case(series, at=at, window_seconds=window_seconds)
    now = case.now
    why = _too_thin(case)
    findings = [] if why else _weighed(case)
    why = why or ("" if findings else _nobody_runs(case))
    verdicts = tuple(_verdict(case, finding, price_per_gpu_hour) for finding in findings)
    return Diagnosis(
        run=series.run,
        at_seconds=float(now.series.times[-1]) if now.scrapes else float("nan"),
        window_seconds=now.seconds,
        scrapes=now.scrapes,
        steps=now.steps,
        step_seconds=now.step_seconds if now.step_seconds > 0 else None,
        cost=_total(case, findings, price_per_gpu_hour),
        verdicts=verdicts,
        pipeline=isolate(case),
        abstained=why,
        lost_seconds=_lost(case),
    )


def _case(series: Series, *, at: float | None, window_seconds: float) -> Case:
    end = float(series.times[-1]) if at is None and len(series.times) else (at or 0.0)
    history = series.part(-np.inf, end)
    each = _bytes_per_step(history)
    now = Window(history.part(end - window_seconds, end), each)
    long = Window(history.part(end - limit.LONG_WINDOWS * window_seconds, end), each)
    return Case(now, _best_before(history, now), tuple(_pieces(now)), long, history)


def _pieces(window: Window) -> list[Window]:
    """The intervals between scrapes in which a step ended."""
    cut = [
        Window(window.series.at(np.array([first, first + 1], dtype=np.int64)), window.bytes_per_step)
        for first in range(window.scrapes - 1)
    ]
    return [piece for piece in cut if piece.steps > 0]


def better_times(series: Series, *, window_seconds: float) -> tuple[float, float] | None:
    """First and last scrape of the stretch before the window with which it is compared.

    Needs nothing but the series of which a run has one, so that a feeder can ask for the ranks of just that stretch.
    """
    end = float(series.times[-1])
    now = Window(series.part(end - window_seconds, end))
    best = _earliest_good(_stretches(series, now), lambda window: window.step_seconds)
    return None if best is None else (float(best.series.times[0]), float(best.series.times[-1]))


def _best_before(history: Series, now: Window) -> Window | None:
    """The good stretch before `now`, of those in which ranks were seen."""
    seen = [window for window in _stretches(history, now) if np.isfinite(window.rank_steps).any()]
    return _earliest_good(seen, lambda window: window.pace_seconds)


def _earliest_good(windows: Sequence[Window], length: Callable[[Window], float]) -> Window | None:
    """The earliest with steps as short as the shortest: what costs no time yet has set in after it."""
    if not windows:
        return None
    shortest = min(map(length, windows))
    good = [window for window in windows if length(window) <= (1.0 + limit.STEP_SAME) * shortest]
    return min(good, key=lambda window: float(window.series.times[0]))


def _stretches(history: Series, now: Window) -> list[Window]:
    """Stretches of as many scrapes as `now` has, or of all there are, that end before it and saw enough steps."""
    before = len(history.times) - now.scrapes
    length = min(now.scrapes, before + 1)
    if length < limit.LEAST_SCRAPES or now.scrapes < limit.LEAST_SCRAPES:
        return []
    firsts = range(before + 1 - length, -1, -max(1, length // 2))
    cut = [Window(history.at(np.arange(first, first + length)), now.bytes_per_step) for first in firsts]
    return [window for window in cut if window.steps >= limit.LEAST_STEPS]


def _bytes_per_step(history: Series) -> float:
    """Over all that is known of the run: one step more or less is little then. NaN where nobody counts bytes."""
    whole = Window(history)
    moved = middle(increase(history.rank["training_collective_bytes_total"]))
    return moved / whole.steps if moved > 0 and whole.steps >= limit.LEAST_STEPS else float("nan")


def _too_thin(case: Case) -> str:
    """Why the window does not bear a verdict; empty when it does."""
    now = case.now
    seen = np.isfinite(now.series.phase_seconds).any(axis=(1, 2)) | np.isfinite(now.series.single[_STEPS])
    if seen.sum() < limit.LEAST_SCRAPES:
        return f"{seen.sum()} scrapes in the window, {limit.LEAST_SCRAPES} are the least that show a rate"
    return ""


def _nobody_runs(case: Case) -> str:
    """Why a job that stands still is not said to hang; empty when it does not stand, or hangs."""
    if not down(case):
        return ""
    return (
        f"no step has ended for {standing_seconds(case):.0f} s, and every rank is outside of any step and idle: "
        "the job is down, being started, or busy between steps"
    )


def _weighed(case: Case) -> list[Finding]:
    known = causes()
    found = [finding for cause in known.values() for finding in cause.find(case)]
    if down(case):
        # What steps there were ended before it went down: whatever a standstill looks like says nothing now.
        found = [finding for finding in found if finding.cause not in known["hang"].explains]
    found = [finding for finding in found if not any(_explains(other, finding) for other in found)]
    order = sorted(found, key=lambda finding: (-_weight(case, finding), finding.cause))
    return order[: limit.MOST_VERDICTS]


def _explains(other: Finding, finding: Finding) -> bool:
    """Whether `finding` is only what `other` looks like from another side."""
    if other is finding or finding.cause not in causes()[other.cause].explains:
        return False
    if other.culprit is None or finding.culprit is None:
        return True
    return bool(set(other.culprit.ranks) & set(finding.culprit.ranks))


def _weight(case: Case, finding: Finding) -> float:
    step = case.step_seconds
    share = finding.seconds_per_step / step if step > 0 else 0.0
    return finding.confidence * max(min(share, 1.0), finding.urgency)


def _verdict(case: Case, finding: Finding, price: float | None) -> Verdict:
    cause = causes()[finding.cause]
    who = f": {finding.culprit.describe()}" if finding.culprit else ""
    detail = f" ({finding.detail})" if finding.detail else ""
    return Verdict(
        cause=finding.cause,
        summary=f"{cause.title}{detail}{who}",
        culprit=finding.culprit,
        evidence=finding.evidence,
        cost=cost(
            finding.seconds_per_step, step_seconds=float("nan") if finding.stands_still else case.step_seconds,
            gpus=case.now.series.ranks, price_per_gpu_hour=price,
        ),
        chronic=_lasts(case, finding),
        confidence=finding.confidence,
        confirm=cause.confirm,
        remedy=cause.remedy,
        detail=finding.detail,
    )  # fmt: skip


def _lasts(case: Case, finding: Finding) -> bool:
    """Whether the cause shows in at least half of the intervals since it first did, the newest included or not."""
    cause = causes()[finding.cause]
    pieces = case.pieces
    if len(pieces) < 2:
        return False
    shown = [bool(cause.find(replace(case, now=piece, pieces=(piece,), long=piece))) for piece in pieces]
    if not any(shown):
        # Too small to be told in one interval: then it took all of them.
        return True
    since = shown[shown.index(True) :]
    return sum(since) >= max(limit.LEAST_INTERVALS_CHRONIC, 0.5 * len(since))


def _total(case: Case, findings: Sequence[Finding], price: float | None) -> Cost | None:
    step = case.step_seconds
    if not step > 0:
        return None
    gpus = case.now.series.ranks
    if any(finding.stands_still for finding in findings):
        return cost(0.0, step_seconds=float("nan"), gpus=gpus, price_per_gpu_hour=price)
    lost = together(case, findings)
    return cost(lost, step_seconds=step, gpus=gpus, price_per_gpu_hour=price)


def _lost(case: Case) -> dict[str, float]:
    """What each rank's own work costs the others per step, beyond the median of its peers."""
    own = case.now.work + case.now.data_wait
    if not case.now.splits_waiting:
        # A script may be slow in what it does not tell: all that is no waiting for others counts.
        own = own + case.now.phases[OPTIMIZER] + case.now.phases[STALL]
    if not np.isfinite(own).any():
        return {}
    beyond = own - middle(own)
    if len(own) <= limit.FEW_RANKS:
        # A median of two or three is half the slow one.
        beyond = np.array([mine - middle(np.delete(own, rank)) for rank, mine in enumerate(own)])
    named = np.flatnonzero(beyond > limit.WORK_EXCESS_HIGH * case.step_seconds)
    return {case.now.series.members[int(rank)].rank: float(beyond[rank]) for rank in named}
