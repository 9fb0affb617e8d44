"""`stepscope diagnose`: a lab, a file, a Prometheus that is none."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from diagnosis.engine import diagnose
from diagnosis.mapping import to_mapping
from diagnosis.series import Series
from stepscope.cli.diagnose_says import report
from tests.cli.conftest import Answer, Command
from tests.diagnosis.jobs import Stretch, job


@pytest.fixture
def times(tmp_path: Path) -> Path:
    """A wide file in which rank 2 is half as slow again."""
    path = tmp_path / "times.csv"
    rows = [f"{step},1.0,1.01,1.5,0.99" for step in range(20)]
    path.write_text("\n".join(("step,0,1,2,3", *rows)), encoding="utf-8")
    return path


def test_a_file_names_its_slow_rank(stepscope: Command, times: Path) -> None:
    found = stepscope("diagnose", "--ranks", str(times), "--price", "2")
    assert (found.status, found.err) == (0, "")
    assert "rank 2" in found.out
    assert "straggler, chronic" in found.out
    assert "an hour" in found.out


def test_json_has_everything(stepscope: Command, times: Path) -> None:
    found = json.loads(stepscope("diagnose", "--ranks", str(times), "--json").out)
    assert found["verdicts"][0]["culprit"]["ranks"] == ["2"]
    assert found["cost"]["slowdown"] == pytest.approx(1.5 / 1.125, rel=0.01)
    assert found["lost_seconds"] == {"2": pytest.approx(0.49)}


def test_a_lab_is_asked_for_its_verdict(lab: Command) -> None:
    found = lab("diagnose")
    assert found.status == 0
    assert "isolation pipeline" in found.out
    shown = json.loads(lab("diagnose", "--json", "--window", "30s").out)
    assert shown["run"].startswith("workshop-4gpu")
    assert len(shown["pipeline"]) == 6


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--ranks", "no-such-file.csv"), "no-such-file.csv: no such file or directory"),
        (("--run", "a"), "--run: only together with --prometheus"),
        (("--at", "now"), "--at: only together with --prometheus"),
        (("--prometheus", "9090"), "--prometheus: '9090' is not an address"),
        (("--prometheus", "http://a", "--at", "noon"), "--at: 'noon' is neither Unix seconds nor a time"),
        (("--prometheus", "http://a", "--ranks", "b"), "--ranks: not together with --prometheus"),
        (("--window", "2 minutes"), "'2 minutes' is not a span of time"),
        (("--window", "0s"), "is not from 1s to 24h"),
        (("--price", "-1"), "--price: must be from 0"),
    ],
)
def test_words_that_cannot_be_used(stepscope: Command, words: tuple[str, ...], said: str) -> None:
    found = stepscope("diagnose", *words)
    assert (found.status, found.out) == (2, "")
    assert said in found.err


def test_a_mistake_in_a_file_is_said_with_its_line(stepscope: Command, tmp_path: Path) -> None:
    path = tmp_path / "times.csv"
    path.write_text("step,rank,phase,seconds\n1,0,forward,soon\n", encoding="utf-8")
    found = stepscope("diagnose", "--ranks", str(path))
    assert found.status == 2
    assert "line 2: seconds: 'soon'" in found.err


def test_a_server_that_is_no_prometheus(stepscope: Command, serving: Callable[[Answer], str]) -> None:
    found = stepscope("diagnose", "--prometheus", serving(Answer(200, "text/html", b"hello")), "--run", "a")
    assert found.status == 1
    assert "is no Prometheus" in found.err


def test_a_prometheus_without_runs_and_with_several(stepscope: Command, serving: Callable[[Answer], str]) -> None:
    def vector(*labels: str) -> Answer:
        result = [{"metric": {"run": label}, "value": [0, "1"]} for label in labels]
        body = {"status": "success", "data": {"resultType": "vector", "result": result}}
        return Answer(200, "application/json", json.dumps(body).encode())

    none = stepscope("diagnose", "--prometheus", serving(vector()))
    assert (none.status, "knows no run at that time" in none.err) == (1, True)
    two = stepscope("diagnose", "--prometheus", serving(vector("a", "b")))
    assert (two.status, "--run: which one? a, b" in two.err) == (2, True)


def test_nobody_listens(stepscope: Command) -> None:
    found = stepscope("diagnose", "--prometheus", "http://127.0.0.1:9", "--run", "a")
    assert found.status == 1
    assert "no Prometheus answers at http://127.0.0.1:9 (connection refused)" in found.err


def said_of(series: Series) -> str:
    return report(to_mapping(diagnose(series)))


_TRAINING = Stretch(8, {"forward": (0.1, 0.1), "collective": (0.03, 0.03)})


@pytest.mark.parametrize("intervals", [2, 4])
def test_a_job_that_stands_still_loses_everything_and_no_evidence_is_made_up(intervals: int) -> None:
    stuck = Stretch(intervals, {"collective": (1.0, 0.0), "stall": (0.0, 1.0)}, steps=False)
    said = said_of(job(2, _TRAINING, stuck))
    assert "never arrives at its collective: rank 1\n" in said
    assert "the job stands still, and everything is lost while it lasts" in said.splitlines()[0]
    assert "costs everything while it lasts: no step ends" in said
    assert "costs no time" not in said
    assert "GPU utilization" not in said


def test_a_job_that_is_down_is_said_to_be_and_not_to_hang() -> None:
    said = said_of(job(2, _TRAINING, Stretch(4, {"stall": (1.0, 1.0)}, steps=False)))
    assert "the job is down, being started, or busy between steps" in said
    assert "hang" not in said


def test_the_headline_says_no_more_than_the_verdict_that_costs_most() -> None:
    slow = Stretch(8, {"forward": (0.1, 0.16), "collective": (0.03, 0.03)})
    said = said_of(job(2, slow))
    assert "1.46 times as long as it need be" in said
    assert "S = 1.46" in said
    assert "rank 1" in said
