from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from faults.change import FIELDS, FaultChange, changes
from faults.errors import FaultError
from faults.record import FaultRecord
from faults.spec import FaultSpec
from tests.faults.strategies import JSON, check_report, relaxed


def record(**fields: Any) -> FaultRecord:
    mapping = {"kind": "none", "open_ended": "duration_seconds" not in fields, "seed": 1, **fields}
    spec = FaultSpec.from_mapping(mapping)
    return FaultRecord("a", spec, np.arange(4), "all", put_at=10.0, created_at=0.0, effective_from_step=7)


def applied(change: dict[str, object], before: FaultRecord, at_seconds: float = 20.0) -> FaultRecord:
    return FaultChange.from_mapping(change).applied(before, at_seconds=at_seconds, next_step=99)


@pytest.mark.parametrize(
    ("mapping", "pointer", "detail"),
    [
        ([], "", "must be an object, not an array"),
        ({"intensity": 0}, "/intensity", "must be a number above 0 and up to 1, not 0"),
        ({"intensity": None}, "/intensity", "not null"),
        ({"intensity": True}, "/intensity", "not true"),
        ({"duration_seconds": None}, "/duration_seconds", "not null"),
        ({"duration_seconds": 86_401}, "/duration_seconds", "must be a number above 0 and up to 86400"),
        ({"duration_seconds": 5, "open_ended": True}, "/duration_seconds", "must be left out when open_ended is true"),
        (
            {"open_ended": False},
            "/duration_seconds",
            "is required, a number above 0 and up to 86400, when open_ended is",
        ),
        ({"open_ended": 1}, "/open_ended", "must be true or false, not 1"),
        ({"paused": 0}, "/paused", "must be true or false, not 0"),
        ({"paused": None}, "/paused", "not null"),
        (
            {"kind": "none"},
            "/kind",
            "is not a key of a change; valid keys: intensity, duration_seconds, open_ended, paused",
        ),
    ],
)
def test_refused(mapping: object, pointer: str, detail: str) -> None:
    with pytest.raises(FaultError) as caught:
        FaultChange.from_mapping(mapping)
    (problem,) = caught.value.problems
    assert problem.pointer == pointer
    assert detail in problem.detail
    assert caught.value.code == "invalid"


def test_every_problem_is_reported() -> None:
    with pytest.raises(FaultError) as caught:
        FaultChange.from_mapping({"intensity": 2, "paused": "yes", "x": 1})
    assert {problem.pointer for problem in caught.value.problems} == {"/intensity", "/paused", "/x"}


@relaxed
@given(JSON | st.dictionaries(st.sampled_from(FIELDS), JSON))
def test_arbitrary_json_is_a_change_or_a_fault_error(value: Any) -> None:
    try:
        FaultChange.from_mapping(value)
    except FaultError as error:
        check_report(error)


def test_intensity() -> None:
    before = record(intensity=0.5)
    after = applied({"intensity": 1}, before)
    assert (after.intensity(20.0), after.effective_from_step) == (1.0, 99)
    assert changes(before, after) == [("changed", "intensity 0.5 to 1")]


def test_a_duration_counts_from_the_start() -> None:
    before = record(duration_seconds=15)
    after = applied({"duration_seconds": 30}, before)
    assert [after.level(at)[0] for at in (25.0, 39.9, 40.0)] == ["active", "active", "expired"]
    assert changes(before, after) == [("changed", "duration 15 s to 30 s")]


def test_a_timed_fault_can_be_made_open_ended_and_back() -> None:
    timed = record(duration_seconds=15)
    lasting = applied({"open_ended": True}, timed)
    assert lasting.level(1e6) == ("active", 1.0)
    assert (lasting.spec.open_ended, lasting.spec.duration_seconds) == (True, None)
    assert changes(timed, lasting) == [("changed", "duration 15 s to open-ended")]
    again = applied({"duration_seconds": 15, "open_ended": False}, lasting)
    assert again.spec == timed.spec


def test_an_end_that_has_passed_is_too_late() -> None:
    with pytest.raises(FaultError, match=r"^duration_seconds: must be above 10, the seconds since it started; clear"):
        applied({"duration_seconds": 10}, record(duration_seconds=15))
    assert applied({"duration_seconds": 10.5}, record(duration_seconds=15)).level(20.5) == ("expired", 0.0)
    assert applied({"duration_seconds": 1}, record(start_after_seconds=60)).level(71.5)[0] == "expired"


@pytest.mark.parametrize(
    ("before", "state"),
    [
        (record(duration_seconds=5), "expired"),
        (record(duration_seconds=5, ramp_down_seconds=60), "recovering"),
        (record().cleared(15.0, immediate=False), "cleared"),
    ],
    ids=["expired", "recovering", "cleared"],
)
def test_what_is_over_cannot_be_changed(before: FaultRecord, state: str) -> None:
    with pytest.raises(FaultError, match=f"^name: is {state}; only a pending, ramping, active fault") as caught:
        applied({"paused": True}, before)
    assert caught.value.code == "over"


@pytest.mark.parametrize("change", [{}, {"intensity": 1}, {"open_ended": True}, {"paused": False}])
def test_the_same_again_is_nothing(change: dict[str, object]) -> None:
    before = record()
    assert applied(change, before) is before
    assert changes(before, before) == []


def test_what_has_not_started_names_no_step() -> None:
    assert applied({"intensity": 0.5}, record(start_after_seconds=60)).effective_from_step is None


def test_a_pause_stops_the_clock_of_the_schedule() -> None:
    before = record(ramp_up_seconds=20, duration_seconds=40)
    paused = applied({"paused": True}, before)
    assert changes(before, paused) == [("paused", "")]
    assert paused.level(20.0) == paused.level(500.0) == ("ramping", 0.0)
    assert paused.to_mapping(500.0)["paused"] is True
    assert paused.to_mapping(500.0)["expires_at"] is None
    resumed = applied({"paused": False}, paused, at_seconds=120.0)
    assert changes(paused, resumed) == [("resumed", "")]
    assert resumed.level(120.0) == before.level(20.0) == ("ramping", 0.5)
    assert [resumed.level(at)[0] for at in (130.0, 149.0, 150.0)] == ["active", "active", "expired"]
    assert resumed.to_mapping(120.0)["expires_at"] == "1970-01-01T00:02:20.000Z"


def test_a_paused_fault_stays_paused_while_it_is_changed() -> None:
    paused = applied({"paused": True}, record())
    harder = applied({"intensity": 0.5, "paused": True}, paused, at_seconds=40.0)
    assert (harder.spec.intensity, harder.is_paused, harder.level(40.0)) == (0.5, True, ("active", 0.0))


def test_a_paused_fault_that_is_cleared_ends_at_once() -> None:
    paused = applied({"paused": True}, record(ramp_down_seconds=60))
    assert paused.cleared(40.0, immediate=False).level(40.0) == ("cleared", 0.0)


@relaxed
@given(st.lists(st.floats(0, 1e4), min_size=1, max_size=8), st.floats(0, 100))
def test_no_pause_turns_time_back(waits: list[float], ramp: float) -> None:
    now, at = record(ramp_up_seconds=ramp), 10.0
    reached = [now.elapsed(at)]
    for index, wait in enumerate(waits):
        at += wait
        now = now.resumed(at) if index % 2 else now.paused(at)
        reached.append(now.elapsed(at))
    assert reached == sorted(reached)
