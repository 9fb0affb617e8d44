"""Playing incidents and scoring what was said: the same seed, the same answer; and every score by hand."""

from __future__ import annotations

import pytest

from faults.incident import SEVERITIES, Severity, random_incident
from simulator.presets import PRESETS
from simulator.run import topology_of
from stepscope.evaluation.jobs import jobs
from stepscope.evaluation.many import play_all
from stepscope.evaluation.play import Played, Said, played
from stepscope.evaluation.score import report
from stepscope.evaluation.truth import Truth


def test_the_jobs_reach_from_4_to_1024_gpus() -> None:
    sizes = sorted({spec.ranks for spec in jobs()})
    assert sizes[0] == 4
    assert sizes[-1] == 1_024


def test_an_incident_is_seen_as_scrapes_see_it_and_judged_by_the_newest() -> None:
    spec = PRESETS["workshop-4gpu"]
    incident = random_incident(5, topology_of(spec), kinds=["straggler"], decoy_share=0.0)
    one = played(0, spec, incident, first_scrape=4)
    (truth,) = one.truths
    assert truth.kind == "straggler"
    assert one.said[-1].causes == ("straggler",)
    assert one.said[-1].ranks == (truth.ranks,)
    gaps = {round(b.seconds - a.seconds) for a, b in zip(one.said, one.said[1:], strict=False)}
    assert gaps == {15}


def test_the_number_of_processes_does_not_matter_and_progress_is_told() -> None:
    told: list[tuple[int, int]] = []
    alone = play_all(4, seed=11, kinds=["straggler", "power_cap"], processes=1, progress=lambda *at: told.append(at))
    assert told == [(1, 4), (2, 4), (3, 4), (4, 4)]
    assert play_all(4, seed=11, kinds=["straggler", "power_cap"], processes=2) == alone


def one(truths: list[Truth], said: list[Said], severity: Severity = "severe") -> Played:
    return Played(0, "a job", 4, severity, tuple(truths), (), tuple(said))


def saying(*causes: str, ranks: tuple[frozenset[int], ...] = (), seconds: float = 15.0) -> Said:
    return Said(seconds, causes, ranks or tuple(frozenset() for _ in causes))


def test_scores_by_hand() -> None:
    slow, hot = Truth("straggler", "", frozenset({2})), Truth("thermal_throttle", "", frozenset({1}))
    at2 = (frozenset({2}),)
    played = [
        one([slow], [saying(seconds=10.0), saying("straggler", ranks=at2, seconds=25.0)]),
        one([slow], [saying("straggler", ranks=(frozenset({3}),), seconds=40.0)]),
        one([slow], [saying("power_cap", ranks=at2)]),
        one([slow], [saying("straggler", ranks=at2, seconds=55.0)], severity="mild"),
        one([slow], [saying()], severity="mild"),
        one([slow, hot], [saying("gc_pause", "straggler", "thermal_throttle")]),
        one([slow, hot], [saying("straggler")]),
        one([], [saying(), saying("straggler"), saying(), saying()]),
    ]
    found = report(played)
    summary = found.summary
    assert (summary.incidents, summary.healthy_windows) == (8, 4)
    assert summary.cause_accuracy == pytest.approx(2 / 3)
    assert summary.culprit_accuracy == pytest.approx(1 / 3)
    assert summary.mild_accuracy == pytest.approx(1 / 2)
    assert summary.false_alarm_rate == pytest.approx(1 / 4)
    assert summary.compound_top3 == pytest.approx(1 / 2)
    assert summary.median_seconds_to_verdict == 40.0
    assert found.confusion == {
        "nothing": {"nothing": 3, "straggler": 1},
        "straggler": {"nothing": 1, "power_cap": 1, "straggler": 3},
    }
    assert found.by_kind["straggler"]["mild"] == pytest.approx(1 / 2)
    assert len(found.misses) == 5


def test_without_incidents_of_a_sort_there_is_no_share_of_them() -> None:
    summary = report([one([], [saying()])]).summary
    assert summary.cause_accuracy is None
    assert summary.compound_top3 is None
    assert summary.false_alarm_rate == 0.0
    assert SEVERITIES == ("mild", "moderate", "severe")
