from __future__ import annotations

from itertools import pairwise
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faults.life import CHANGEABLE, ENDED, NEXT, STATES, State, events_between
from faults.schedule import intensity_at
from faults.spec import FaultSpec
from tests.faults.strategies import relaxed, specs


def test_every_state_is_described_and_has_its_place() -> None:
    assert tuple(NEXT) == tuple(STATES) == get_args(State)
    assert {state for state, following in NEXT.items() if not following} == ENDED
    assert not ENDED & set(CHANGEABLE)


def test_nothing_comes_back() -> None:
    for state, following in NEXT.items():
        assert state not in following
        for other in following:
            assert NEXT[other] <= following


@pytest.mark.parametrize(
    ("told", "now", "events"),
    [
        ("pending", "ramping", ("started",)),
        ("pending", "active", ("started", "peaked")),
        ("ramping", "active", ("peaked",)),
        ("active", "recovering", ("recovering",)),
        ("recovering", "expired", ("expired",)),
        ("pending", "recovering", ("started", "recovering")),
        ("pending", "cleared", ("cleared",)),
        ("pending", "expired", ("expired",)),
        ("active", "cleared", ("cleared",)),
    ],
)
def test_events(told: Any, now: Any, events: tuple[str, ...]) -> None:
    assert events_between(told, now) == events


@pytest.mark.parametrize(("told", "now"), [("active", "ramping"), ("expired", "cleared"), ("ramping", "pending")])
def test_what_cannot_happen_is_a_mistake(told: Any, now: Any) -> None:
    with pytest.raises(AssertionError, match="come"):
        events_between(told, now)


@relaxed
@given(specs(), st.lists(st.floats(0, 300_000), min_size=2, max_size=8), st.none() | st.floats(0, 300_000))
def test_schedules_keep_to_it(spec: FaultSpec, times: list[float], cleared_at: float | None) -> None:
    states = [intensity_at(spec, time, cleared_at)[0] for time in sorted(times)]
    for before, after in pairwise(states):
        assert after == before or after in NEXT[before]
