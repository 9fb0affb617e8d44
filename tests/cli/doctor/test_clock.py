"""Wall clock against monotonic clock, with clocks turned by hand."""

from __future__ import annotations

import pytest

from simulator.clock import ManualClock
from stepscope.cli.doctor.clock import INTERVAL_SECONDS, Clock, judge, look

NOW = 1_800_000_000.0


def test_clocks_that_agree() -> None:
    clock = ManualClock(at=NOW)
    seen = look(wall=clock.time, monotonic=clock.monotonic, sleep=clock.turn)
    assert seen == Clock(NOW + INTERVAL_SECONDS, INTERVAL_SECONDS, INTERVAL_SECONDS)


def test_a_clock_that_was_set() -> None:
    clock = ManualClock(at=NOW)

    def sleep(seconds: float) -> None:
        clock.turn(seconds)
        clock.set_wall(-3600.0)

    seen = look(wall=clock.time, monotonic=clock.monotonic, sleep=sleep)
    assert seen.wall_elapsed == pytest.approx(INTERVAL_SECONDS - 3600.0)


def test_being_held_up_between_two_readings_does_not_matter() -> None:
    clock, reads = ManualClock(at=NOW), 0

    def wall() -> float:
        nonlocal reads
        reads += 1
        if reads == 2:
            clock.turn(5.0)
        return clock.time()

    seen = look(wall=wall, monotonic=clock.monotonic, sleep=clock.turn)
    assert seen.wall_elapsed == seen.monotonic_elapsed


@pytest.mark.parametrize(
    ("clock", "status", "said"),
    [
        (Clock(NOW, 0.5002, 0.5), "ok", "agree to 0.2 ms over 0.5 s"),
        (Clock(NOW, 0.51, 0.5), "warning", "goes +2.0 % against"),
        (Clock(NOW, 0.49, 0.5), "warning", "goes -2.0 % against"),
        (Clock(NOW, 60.5, 0.5), "problem", "moved by +60.00 s while this looked"),
        (Clock(NOW, -60.0, 0.5), "problem", "moved by -60.50 s while this looked"),
        (Clock(0.0, 0.5, 0.5), "problem", "says 1970-01-01"),
        (Clock(-5.0, 0.5, 0.5), "problem", "says 1970-01-01"),
    ],
)
def test_verdicts(clock: Clock, status: str, said: str) -> None:
    (check,) = judge(clock)
    assert (check.name, check.status) == ("clock", status)
    assert said in check.found
    assert bool(check.advice) == (status != "ok")
