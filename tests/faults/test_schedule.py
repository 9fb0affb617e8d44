from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faults.schedule import ENDED, intensity_at
from faults.spec import FaultSpec
from tests.faults.strategies import relaxed, specs

TIMES = st.floats(0, 300_000)


def timed(**fields: Any) -> FaultSpec:
    return FaultSpec.from_mapping({"kind": "none", "open_ended": "duration_seconds" not in fields, **fields})


TRAPEZE = timed(start_after_seconds=10, ramp_up_seconds=4, duration_seconds=20, ramp_down_seconds=8)


@pytest.mark.parametrize(
    ("elapsed", "state", "level"),
    [
        (0, "pending", 0.0),
        (9.999, "pending", 0.0),
        (10, "ramping", 0.0),
        (11, "ramping", 0.25),
        (14, "active", 1.0),
        (29.999, "active", 1.0),
        (30, "recovering", 1.0),
        (34, "recovering", 0.5),
        (38, "expired", 0.0),
        (1e9, "expired", 0.0),
    ],
)
def test_whole_life(elapsed: float, state: str, level: float) -> None:
    assert intensity_at(TRAPEZE, elapsed) == (state, level)


def test_without_ramps_it_is_a_step() -> None:
    for shape in ("linear", "step"):
        spec = timed(duration_seconds=5, shape=shape)
        assert [intensity_at(spec, t) for t in (0, 4.9, 5)] == [("active", 1.0), ("active", 1.0), ("expired", 0.0)]


def test_duration_shorter_than_the_ramp_falls_from_where_it_is() -> None:
    spec = timed(ramp_up_seconds=10, duration_seconds=5, ramp_down_seconds=10)
    assert intensity_at(spec, 5) == ("recovering", 0.5)
    assert intensity_at(spec, 7.5) == ("recovering", 0.25)
    assert intensity_at(spec, 10) == ("expired", 0.0)


def test_clearing_falls_from_where_it_is() -> None:
    assert intensity_at(TRAPEZE, 12, 12) == ("recovering", 0.5)
    assert intensity_at(TRAPEZE, 14, 12) == ("recovering", 0.25)
    assert intensity_at(TRAPEZE, 16, 12) == ("cleared", 0.0)


def test_clearing_while_recovering_keeps_its_pace() -> None:
    assert intensity_at(TRAPEZE, 36, 34) == ("recovering", 0.25)
    assert intensity_at(TRAPEZE, 38, 34) == ("cleared", 0.0)


@pytest.mark.parametrize(
    ("spec", "cleared_at", "immediate"),
    [
        (TRAPEZE, 5.0, False),
        (TRAPEZE, 10.0, False),
        (TRAPEZE, 20.0, True),
        (TRAPEZE, 33.0, True),
        (timed(), 3.0, False),
        (timed(ramp_up_seconds=10), 3.0, False),
    ],
    ids=["pending", "at level 0", "immediate", "immediate in recovery", "no ramp", "no ramp down"],
)
def test_cleared_at_once(spec: FaultSpec, cleared_at: float, immediate: bool) -> None:
    assert intensity_at(spec, cleared_at, cleared_at, immediate=immediate) == ("cleared", 0.0)
    assert intensity_at(spec, 1e6, cleared_at, immediate=immediate) == ("cleared", 0.0)


def test_clearing_what_has_expired_changes_nothing() -> None:
    assert intensity_at(TRAPEZE, 60, 50) == ("expired", 0.0)


def test_clearing_does_not_reach_back() -> None:
    assert intensity_at(TRAPEZE, 20, 25) == ("active", 1.0)


@relaxed
@given(specs(), TIMES, st.none() | TIMES, st.booleans())
def test_level_is_a_share_and_agrees_with_the_state(
    spec: FaultSpec, elapsed: float, cleared_at: float | None, immediate: bool
) -> None:
    state, level = intensity_at(spec, elapsed, cleared_at, immediate=immediate)
    assert 0.0 <= level <= 1.0
    if state in ENDED or state == "pending":
        assert level == 0.0
    if state == "active":
        assert level == 1.0
    if state == "recovering":
        assert level > 0.0


@relaxed
@given(specs(), st.lists(TIMES, min_size=2, max_size=8), st.none() | TIMES)
def test_states_only_go_forward(spec: FaultSpec, times: list[float], cleared_at: float | None) -> None:
    order = ["pending", "ramping", "active", "recovering", "end"]
    states = [intensity_at(spec, time, cleared_at)[0] for time in sorted(times)]
    places = [order.index("end" if state in ENDED else state) for state in states]
    assert places == sorted(places)
    assert len({state for state in states if state in ENDED}) <= 1


@relaxed
@given(specs(), TIMES)
def test_clearing_always_ends_it(spec: FaultSpec, cleared_at: float) -> None:
    state, level = intensity_at(spec, cleared_at + spec.ramp_down_seconds + 1e-3, cleared_at)
    assert state in ENDED
    assert level == 0.0


@relaxed
@given(specs(), TIMES, TIMES)
def test_clearing_never_raises_the_level(spec: FaultSpec, elapsed: float, cleared_at: float) -> None:
    before = intensity_at(spec, cleared_at)[1]
    after = intensity_at(spec, cleared_at + elapsed, cleared_at)[1]
    assert after <= before
