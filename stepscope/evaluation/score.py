"""From what was said to how right it was."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import TypeVar

from stepscope.evaluation.play import Played, Said
from stepscope.evaluation.truth import Truth

T = TypeVar("T")
NOTHING = "nothing"
"""What a window without a verdict says."""


@dataclass(frozen=True, slots=True)
class Summary:
    """Shares are 0-1; None where no incident of that sort was played."""

    incidents: int
    healthy_windows: int
    cause_accuracy: float | None
    """Of single causes, moderate and severe: the right one is named first."""
    culprit_accuracy: float | None
    """Of those that have a culprit: exactly those ranks are named, with the right cause."""
    mild_accuracy: float | None
    """As `cause_accuracy`, of the mild ones."""
    false_alarm_rate: float | None
    """Of healthy windows: any verdict at all."""
    compound_top3: float | None
    """Of incidents with two causes: both are among the first three."""
    median_seconds_to_verdict: float | None
    """From the onset to the first scrape at which the right cause comes first; of those for which it ever does."""


@dataclass(frozen=True, slots=True)
class Report:
    """Everything that `stepscope evaluate` prints."""

    summary: Summary
    confusion: dict[str, dict[str, int]]
    """What was put, to what was named first, to how often."""
    by_kind: dict[str, dict[str, float | int | None]]
    misses: tuple[dict[str, object], ...]
    """Each wrong verdict, with what was said instead."""


def report(played: Sequence[Played]) -> Report:
    """Score all incidents."""
    single = [one for one in played if len(one.truths) == 1]
    compound = [one for one in played if len(one.truths) == 2]
    healthy = [said for one in played if not one.truths for said in one.said]
    clear = [one for one in single if one.severity != "mild"]
    named = [one for one in clear if one.truths[0].ranks]
    times = [seconds for one in single if (seconds := _seconds(one)) is not None]
    summary = Summary(
        incidents=len(played),
        healthy_windows=len(healthy),
        cause_accuracy=_share(clear, _right),
        culprit_accuracy=_share(named, _right_culprit),
        mild_accuracy=_share([one for one in single if one.severity == "mild"], _right),
        false_alarm_rate=_share(healthy, lambda said: bool(said.causes)),
        compound_top3=_share(compound, _both),
        median_seconds_to_verdict=median(times) if times else None,
    )
    return Report(summary, _confusion(single, healthy), _by_kind(single), tuple(_misses(played)))


def as_json(report: Report) -> dict[str, object]:
    """For `--json`."""
    return asdict(report)


def _right(one: Played) -> bool:
    return bool(one.said) and _first_is_right(one.said[-1], one.truths[0])


def _first_is_right(said: Said, truth: Truth) -> bool:
    return said.causes[:1] == (truth.kind,)


def _right_culprit(one: Played) -> bool:
    return _right(one) and one.said[-1].ranks[0] == one.truths[0].ranks


def _both(one: Played) -> bool:
    return bool(one.said) and {truth.kind for truth in one.truths} <= set(one.said[-1].causes[:3])


def _seconds(one: Played) -> float | None:
    return next((said.seconds for said in one.said if _first_is_right(said, one.truths[0])), None)


def _share(items: Sequence[T], right: Callable[[T], bool]) -> float | None:
    return sum(map(right, items)) / len(items) if items else None


def _confusion(single: Iterable[Played], healthy: Iterable[Said]) -> dict[str, dict[str, int]]:
    table: dict[str, Counter[str]] = {}
    for one in single:
        table.setdefault(one.truths[0].kind, Counter())[_first(one.said[-1])] += 1
    for said in healthy:
        table.setdefault(NOTHING, Counter())[_first(said)] += 1
    return {kind: dict(sorted(row.items())) for kind, row in sorted(table.items())}


def _first(said: Said) -> str:
    return said.causes[0] if said.causes else NOTHING


def _by_kind(single: Sequence[Played]) -> dict[str, dict[str, float | int | None]]:
    kinds = sorted({one.truths[0].kind for one in single})
    rows: dict[str, dict[str, float | int | None]] = {}
    for kind in kinds:
        of_kind = [one for one in single if one.truths[0].kind == kind]
        times = [seconds for one in of_kind if (seconds := _seconds(one)) is not None]
        rows[kind] = {
            "incidents": len(of_kind),
            **{
                severity: _share([one for one in of_kind if one.severity == severity], _right)
                for severity in ("mild", "moderate", "severe")
            },
            "culprit": _share([one for one in of_kind if one.truths[0].ranks], _right_culprit),
            "median_seconds_to_verdict": median(times) if times else None,
        }
    return rows


def _misses(played: Iterable[Played]) -> Iterable[dict[str, object]]:
    for one in played:
        if len(one.truths) == 1 and _right(one) and (not one.truths[0].ranks or _right_culprit(one)):
            continue
        if len(one.truths) == 2 and _both(one):
            continue
        wrong = [said for said in one.said if said.causes] if not one.truths else one.said[-1:]
        for said in wrong:
            yield {
                "index": one.index,
                "preset": one.preset,
                "severity": one.severity,
                "put": [asdict(truth) | {"ranks": sorted(truth.ranks)} for truth in one.truths],
                "decoys": list(one.decoys),
                "said": list(said.causes),
                "named": [sorted(ranks) for ranks in said.ranks],
            }
