from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepscope.exam.marking import Guess, Marks, Truth, marked, score

SLOW = Truth("straggler", frozenset({2, 3}), frozenset({"cordon_node"}))
TAIL = Truth("network_tail_latency", None, frozenset({"reroute_traffic"}))
BROKEN = Truth("odd", None, frozenset({"none"}))


@pytest.mark.parametrize(
    ("guess", "truths", "points"),
    [
        (Guess("straggler", 3, "cordon_node"), [SLOW], 100),
        (Guess("straggler", 1, "cordon_node"), [SLOW], 75),
        (Guess("power_cap", 2, "restart_job"), [SLOW], 25),
        (Guess("straggler", None, "none"), [SLOW], 50),
        (Guess("network_tail_latency", None, "reroute_traffic"), [SLOW, TAIL], 100),
        (Guess("straggler", None, "reroute_traffic"), [SLOW, TAIL], 50),
        (Guess("healthy", None, "none"), [TAIL], 0),
        (Guess("healthy", None, "none"), [BROKEN], 0),
        (Guess("odd", None, "none"), [BROKEN], 100),
    ],
)
def test_an_answer_is_worth_what_of_it_is_right(guess: Guess, truths: list[Truth], points: float) -> None:
    assert marked(guess, truths).points == points


def test_half_of_the_points_goes_with_the_time_and_hints_cost_what_they_cost() -> None:
    all_right = Marks(True, True, True)
    found = [score(all_right, at_seconds=at, of_seconds=600, hints=0, hint_cost=10) for at in (0, 300, 600, 900)]
    assert found == [100, 75, 50, 50]
    assert score(all_right, at_seconds=0, of_seconds=600, hints=3, hint_cost=10) == 70


@given(
    st.builds(Marks, st.booleans(), st.booleans(), st.booleans()),
    st.floats(0, 1e5), st.floats(60, 1e5), st.integers(0, 8), st.floats(0, 50),
)  # fmt: skip
def test_points_stay_between_nothing_and_a_hundred_and_never_rise_with_time(
    marks: Marks, at: float, length: float, hints: int, cost: float
) -> None:
    points = score(marks, at_seconds=at, of_seconds=length, hints=hints, hint_cost=cost)
    later = score(marks, at_seconds=at + 1, of_seconds=length, hints=hints, hint_cost=cost)
    assert 0 <= later <= points <= marks.points
