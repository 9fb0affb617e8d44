from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faults.life import ENDED
from faults.schedule import intensity_at
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
    if state == "active" and spec.period_seconds is None:
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


EXPONENTIAL = timed(shape="exponential", ramp_up_seconds=10, duration_seconds=20, ramp_down_seconds=10)


def test_an_exponential_ramp_does_most_of_its_way_first() -> None:
    levels = [intensity_at(EXPONENTIAL, second)[1] for second in range(11)]
    assert levels[0] == 0.0
    assert levels[5] == pytest.approx(0.924, abs=0.001)
    assert levels[10] == 1.0
    steps = [later - earlier for earlier, later in pairwise(levels)]
    assert steps == sorted(steps, reverse=True)
    ratios = [later / earlier for earlier, later in pairwise(steps)]
    assert ratios == pytest.approx([ratios[0]] * 9), "the same share in each second"


def test_an_exponential_ramp_down_mirrors_it_and_goes_on_from_anywhere() -> None:
    assert intensity_at(EXPONENTIAL, 20) == ("recovering", 1.0)
    assert intensity_at(EXPONENTIAL, 25)[1] == pytest.approx(1 - 0.924, abs=0.001)
    assert intensity_at(EXPONENTIAL, 30) == ("expired", 0.0)
    halfway = intensity_at(EXPONENTIAL, 23)[1]
    assert intensity_at(EXPONENTIAL, 26, 23)[1] == pytest.approx(intensity_at(EXPONENTIAL, 26)[1])
    assert intensity_at(EXPONENTIAL, 23, 23)[1] <= halfway
    early = intensity_at(EXPONENTIAL, 1)[1]
    assert intensity_at(EXPONENTIAL, 1, 1)[1] == pytest.approx(early)
    assert intensity_at(EXPONENTIAL, 1 + 10, 1) == ("cleared", 0.0)


def test_a_sine_begins_at_nothing_and_peaks_at_half_its_period() -> None:
    sine = timed(shape="sine", period_seconds=8, start_after_seconds=4)
    assert intensity_at(sine, 3) == ("pending", 0.0)
    levels = [intensity_at(sine, 4 + second)[1] for second in range(17)]
    assert levels == pytest.approx([*([0, 0.146, 0.5, 0.854, 1, 0.854, 0.5, 0.146] * 2), 0], abs=0.001)
    assert {intensity_at(sine, 4 + second)[0] for second in range(17)} == {"active"}


def test_a_flap_is_on_for_its_duty_first() -> None:
    flap = timed(shape="flap", period_seconds=10, duty=0.3, duration_seconds=25)
    assert [intensity_at(flap, second)[1] for second in range(25)] == ([1.0] * 3 + [0.0] * 7) * 2 + [1.0] * 3 + [
        0.0
    ] * 2
    assert intensity_at(flap, 5) == ("active", 0.0)
    assert intensity_at(flap, 25) == ("expired", 0.0)
    assert intensity_at(flap, 21, 21) == ("cleared", 0.0)


@relaxed
@given(st.integers(2, 400), st.floats(0.05, 0.95), st.integers(0, 1_000))
def test_what_comes_and_goes_repeats_itself(period: int, duty: float, second: int) -> None:
    for fields in ({"shape": "sine"}, {"shape": "flap", "duty": duty}):
        spec = timed(period_seconds=period, **fields)
        assert intensity_at(spec, second) == intensity_at(spec, second + period)


@relaxed
@given(st.integers(2, 400), st.floats(0.05, 0.95))
def test_a_flap_is_on_for_its_share_of_the_time(period: int, duty: float) -> None:
    spec = timed(shape="flap", period_seconds=period, duty=duty)
    on = sum(intensity_at(spec, second)[1] for second in range(period))
    assert abs(on - duty * period) <= 1
