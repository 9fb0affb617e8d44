from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from stepscope.exam.rate import Bucket


@given(st.integers(1, 20), st.floats(0.1, 10), st.lists(st.floats(0, 5), max_size=60))
def test_no_more_come_through_than_fit_and_flow_in(size: int, rate: float, gaps: list[float]) -> None:
    bucket, now, through = Bucket(size=size, per_second=rate, at_seconds=0.0), 0.0, 0
    for gap in gaps:
        now += gap
        wait = bucket.take(now)
        through += wait == 0
        assert wait >= 0
        assert through <= size + rate * now + 1e-6


def test_who_waits_as_long_as_it_says_comes_through() -> None:
    bucket = Bucket(size=1, per_second=0.5, at_seconds=0.0)
    assert bucket.take(0.0) == 0
    assert bucket.take(1.0) == 1.0
    assert bucket.take(2.0) == 0
