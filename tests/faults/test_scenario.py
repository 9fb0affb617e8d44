"""Scenarios: what one may hold, what is refused and where, and what a faster timeline makes of its faults."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faults.errors import FaultError
from faults.scenario import FIELDS, MOST_FAULTS, SPEED, Answer, Expectation, Scenario
from faults.spec import FaultSpec
from tests.faults.strategies import JSON, check_report, relaxed

FAULT: dict[str, Any] = {"kind": "straggler", "duration_seconds": 60}
WHOLE: dict[str, Any] = {
    "id": "slow-one",
    "title": "One is slow",
    "question": "Which?",
    "preset": "workshop-4gpu",
    "duration_seconds": 120,
    "timeline": [{"at_seconds": 30, "fault": FAULT | {"ramp_up_seconds": 10}}],
    "answer": {"cause": "straggler", "rank": 2, "remedy": "replace it"},
}


def refused(**changes: Any) -> list[str]:
    """Pointers of what is wrong with the scenario after these changes; a None takes the key away."""
    mapping = {key: value for key, value in (WHOLE | changes).items() if value is not None}
    with pytest.raises(FaultError) as caught:
        Scenario.from_mapping(mapping)
    return [problem.pointer for problem in caught.value.problems]


def test_a_whole_one() -> None:
    scenario = Scenario.from_mapping(WHOLE)
    assert scenario.seed == 1
    assert scenario.expect == Expectation((), (), None)
    assert scenario.answers == (Answer("straggler", 2, "replace it"),)
    (spec,) = scenario.timeline
    assert (spec.kind, spec.start_after_seconds, spec.duration_seconds) == ("straggler", 30, 60)


@pytest.mark.parametrize("key", ["id", "title", "question", "preset", "duration_seconds", "timeline", "answer"])
def test_what_is_missing_is_named(key: str) -> None:
    assert refused(**{key: None}) == [f"/{key}"]


@pytest.mark.parametrize(
    ("changes", "pointer"),
    [
        ({"id": "Slow One"}, "/id"),
        ({"id": "a" * 49}, "/id"),
        ({"title": ""}, "/title"),
        ({"title": 3}, "/title"),
        ({"seed": True}, "/seed"),
        ({"duration_seconds": 5}, "/duration_seconds"),
        ({"timeline": {}}, "/timeline"),
        ({"timeline": [{"at_seconds": 1, "fault": FAULT}] * (MOST_FAULTS + 1)}, "/timeline"),
        ({"timeline": [{"at_seconds": 1}]}, "/timeline/0/fault"),
        ({"timeline": [{"fault": FAULT}]}, "/timeline/0/at_seconds"),
        ({"timeline": [{"at_seconds": -1, "fault": FAULT}]}, "/timeline/0/at_seconds"),
        ({"timeline": [{"at_seconds": 120, "fault": FAULT}]}, "/timeline/0/at_seconds"),
        ({"timeline": [{"at_seconds": 1, "fault": FAULT | {"kind": "x"}}]}, "/timeline/0/fault/kind"),
        (
            {"timeline": [{"at_seconds": 1, "fault": FAULT | {"start_after_seconds": 5}}]},
            "/timeline/0/fault/start_after_seconds",
        ),
        ({"expect": {"alarms": []}}, "/expect/alarms"),
        ({"expect": {"silent": "all"}}, "/expect/silent"),
        ({"answer": []}, "/answer"),
        ({"answer": {"cause": "straggler"}}, "/answer/remedy"),
        ({"answer": [WHOLE["answer"], {"cause": "x", "remedy": "y", "rank": -1}]}, "/answer/1/rank"),
        ({"hints": "look"}, "/hints"),
        ({"notes": "x"}, "/notes"),
    ],
)
def test_what_is_wrong_is_named(changes: dict[str, Any], pointer: str) -> None:
    assert refused(**changes) == [pointer]


@relaxed
@given(JSON)
def test_whatever_comes_only_a_fault_error_goes(raw: object) -> None:
    try:
        Scenario.from_mapping(raw)
    except FaultError as error:
        check_report(error)


@relaxed
@given(st.sampled_from(FIELDS), JSON)
def test_one_field_replaced_by_anything(key: str, value: object) -> None:
    try:
        Scenario.from_mapping(WHOLE | {key: value})
    except FaultError as error:
        check_report(error)


@relaxed
@given(st.floats(SPEED.minimum, SPEED.maximum))
def test_a_faster_timeline_keeps_its_proportions(speed: float) -> None:
    scenario = Scenario.from_mapping(WHOLE)
    ((name, spec),) = scenario.faults(speed=speed).items()
    assert name == "slow-one.1"
    assert isinstance(spec, FaultSpec)
    assert spec.start_after_seconds * speed == pytest.approx(30)
    assert (spec.duration_seconds or 0) * speed == pytest.approx(60)
    assert spec.ramp_up_seconds * speed == pytest.approx(10)
    assert spec.intensity == scenario.timeline[0].intensity


def test_a_time_that_leaves_its_range_is_named() -> None:
    swinging = {"at_seconds": 1, "fault": FAULT | {"shape": "sine", "period_seconds": 4}}
    scenario = Scenario.from_mapping(WHOLE | {"timeline": [swinging]})
    with pytest.raises(FaultError, match=r"timeline\.0\.fault\.period_seconds"):
        scenario.faults(speed=10)
