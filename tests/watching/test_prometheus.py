"""A Prometheus over HTTP: what is asked, and every way in which it can fail."""

from __future__ import annotations

import json

import pytest

from diagnosis.engine import diagnose
from stepscope.watching.prometheus import Prometheus, PrometheusError
from stepscope.watching.run import Asked, runs, series
from tests.diagnosis.runs import fault, named, seen
from tests.watching.stored import URL, Stored, answer


def test_the_window_and_its_better_minute_are_asked_for_and_judged_as_the_ticks_themselves() -> None:
    held = seen("honest-64xh100", fault("straggler", ranks=[17]))
    stored = Stored(held)
    at = float(held.times[-1])
    found = series(Prometheus(URL, fetch=stored), Asked(held.run, at, 60.0, 15.0))
    assert named(diagnose(found, at=at)) == named(diagnose(held)) == [("straggler", ("17",))]
    spans = [float(asked["end"]) - float(asked["start"]) for asked in stored.asked]
    # Members and the run itself over the history, targets over a while, all else over two stretches of one window.
    assert sorted(spans)[:-3] == [60.0] * (len(spans) - 3)


def test_of_a_young_run_the_better_stretch_may_begin_before_the_run() -> None:
    """This job waits for data in each step as ever: without the stretch it would be taken for starved."""
    held = seen("anatomy-32gpu", fault("straggler", ranks=[13]))
    at = float(held.times[-1])
    found = series(Prometheus(URL, fetch=Stored(held)), Asked(held.run, at, 60.0, 15.0))
    assert named(diagnose(found, at=at)) == named(diagnose(held)) == [("straggler", ("13",))]


def test_runs_are_listed() -> None:
    rows = [{"metric": {"run": "b"}, "value": [0, "1"]}, {"metric": {"run": "a"}, "value": [0, "1"]}]
    prometheus = Prometheus(URL, fetch=lambda *_: answer(rows, "vector"))
    assert runs(prometheus, at=5.0) == ["a", "b"]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"<html>", "is no Prometheus"),
        (b"[]", "is no Prometheus"),
        (answer([], "vector"), "is no Prometheus"),
        (answer([3]), "is no Prometheus"),
        (b"[" * 100_000, "is no Prometheus"),
        (json.dumps({"status": "error", "error": "bad query"}).encode(), "refuses a query: bad query"),
    ],
)
def test_what_is_no_answer_is_said_in_one_line(body: bytes, said: str) -> None:
    with pytest.raises(PrometheusError, match=said) as caught:
        Prometheus(URL, fetch=lambda *_: body).matrix("up", start=0.0, end=1.0, step=1.0)
    assert "\n" not in str(caught.value)


def test_all_queries_together_have_one_deadline() -> None:
    now = [0.0]

    def slow(url: str, form: bytes, seconds: float) -> bytes:
        now[0] += 20.0
        return answer([])

    prometheus = Prometheus(URL, fetch=slow, deadline_seconds=30.0, clock=lambda: now[0])
    prometheus.matrix("up", start=0.0, end=1.0, step=1.0)
    prometheus.matrix("up", start=0.0, end=1.0, step=1.0)
    with pytest.raises(PrometheusError, match="takes too long"):
        prometheus.matrix("up", start=0.0, end=1.0, step=1.0)


@pytest.mark.parametrize("url", ["prometheus:9090", "ftp://a", "http://", "http://a?b=c"])
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="is not an address such as"):
        Prometheus(url)
