"""A lab that runs, one that does not, and one whose clock is off."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from stepscope import __version__
from stepscope.cli.client import Client
from stepscope.cli.doctor.lab import Lab, judge, look
from stepscope.cli.errors import CliError
from tests.cli.conftest import Answer
from tests.cli.test_client import free_port

Serving = Callable[[Answer], str]
URL = "http://127.0.0.1:8000"


class Canned(Client):
    """A client that has its answers already."""

    def __init__(self, **answers: tuple[int, Any]) -> None:
        super().__init__(URL)
        self._answers = answers

    def exchange(self, method: str, path: str, **_: object) -> tuple[int, str, bytes]:
        assert method == "GET"
        status, answer = self._answers[path.rpartition("/")[2]]
        return status, "application/json", json.dumps(answer).encode()


VERSION = (200, {"version": "0.1.0", "python": "3"})
READY = (200, {"status": "ready"})


def state(time: str = "2027-01-15T08:00:00Z", lag: float = 0.0) -> tuple[int, Any]:
    return 200, {"position": {"time": time, "lag_seconds": lag}}


def test_a_lab_that_runs() -> None:
    seen = look(
        Canned(readyz=READY, version=VERSION, state=state(lag=0.25)), asked_for=False, now=lambda: 1_800_000_001.5
    )
    assert seen == Lab(URL, False, "", True, "0.1.0", 1.5, 0.25)


@pytest.mark.parametrize("answer", [(503, {"detail": "not ready"}), (200, {"position": {"time": "x"}}), (200, [])])
def test_a_lab_before_its_first_second(answer: tuple[int, Any]) -> None:
    ready = (503, {"status": 503, "detail": "engine: starts"})
    seen = look(Canned(readyz=ready, version=VERSION, state=answer), asked_for=True)
    assert (seen.error, seen.there, seen.tick_age_seconds) == ("engine: starts", True, None)


def test_nobody_there() -> None:
    seen = look(Client(f"http://127.0.0.1:{free_port()}"), asked_for=True)
    assert not seen.there
    assert seen.error.endswith("(connection refused)")


def test_somebody_else(serving: Serving) -> None:
    seen = look(Client(serving(Answer(200, "text/html", b"<p>hello"))), asked_for=True)
    assert not seen.there
    assert seen.error.endswith("answers, and is no lab")


def test_a_running_lab(lab_url: str) -> None:
    seen = look(Client(lab_url), asked_for=True)
    assert (seen.there, seen.version) == (True, __version__)
    assert seen.tick_age_seconds is not None


@pytest.mark.parametrize(
    ("lab", "status", "said"),
    [
        (Lab(URL, True, "", True, "0.1.0", 0.5), "ok", f"{URL} is ready"),
        (Lab(URL, False, "", True, "0.0.9", 0.5), "warning", "runs stepscope 0.0.9, and this is 0.1.0"),
        (Lab(URL, False, "engine: stopped", True, "0.1.0"), "problem", "is not ready: engine: stopped"),
        (Lab(URL, True, "no lab answers"), "problem", "no lab answers"),
        (Lab(URL, False, "no lab answers"), "not applicable", f"none runs at {URL}"),
    ],
)
def test_verdicts_on_the_lab(lab: Lab, status: str, said: str) -> None:
    check, clock = judge(lab, version="0.1.0")
    assert (check.name, check.status) == ("lab", status)
    assert said in check.found
    assert bool(check.advice) == (status != "ok")
    assert clock.name == "lab clock"


@pytest.mark.parametrize(
    ("age", "lag", "status", "said"),
    [
        (0.4, 0.0, "ok", "0.4 s old"),
        (1.9, 0.0, "ok", "1.9 s old"),
        (6.0, 0.0, "warning", "the two clocks differ"),
        (6.0, 5.0, "warning", "it cannot keep up"),
        (3600.0, 0.0, "problem", "3600.0 s old"),
        (-3600.0, 0.0, "problem", "3600.0 s in the future"),
        (None, 0.0, "not applicable", "has not finished its first second"),
    ],
)
def test_verdicts_on_its_clock(age: float | None, lag: float, status: str, said: str) -> None:
    _, check = judge(Lab(URL, False, "", True, "0.1.0", age, lag), version="0.1.0")
    assert (check.name, check.status) == ("lab clock", status)
    assert said in f"{check.found} {check.advice}"


def test_an_address_that_answers_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    client = Canned(readyz=READY)

    def fail(*_: object, **__: object) -> tuple[int, str, bytes]:
        raise CliError("no lab answers at x (nothing came within 0.7 s); start one: stepscope lab")

    monkeypatch.setattr(client, "exchange", fail)
    assert look(client, asked_for=False).error == "no lab answers at x (nothing came within 0.7 s)"
