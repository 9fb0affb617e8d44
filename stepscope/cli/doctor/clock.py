"""Does the wall clock go as fast as time itself? Prometheus files samples by it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from stepscope.cli.doctor.check import Check

INTERVAL_SECONDS = 0.5
JUMP_SECONDS = 0.1
DRIFT = 0.01
"""Difference in rate that is no longer a clock being nudged: time servers stay below a thousandth."""
EARLIEST = datetime(2025, 1, 1, tzinfo=UTC).timestamp()
_ADVICE = "let a time service set it (timedatectl set-ntp true); after sleep restart the virtual machine or Docker"

_TRIES = 5


@dataclass(frozen=True, slots=True)
class Clock:
    """Two looks at the wall clock."""

    wall: float
    """Unix seconds at the end."""
    wall_elapsed: float
    monotonic_elapsed: float


def look(
    *,
    wall: Callable[[], float] = time.time,
    monotonic: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> Clock:
    """At both clocks, half a second apart."""
    first_wall, first = _both(wall, monotonic)
    sleep(INTERVAL_SECONDS)
    last_wall, last = _both(wall, monotonic)
    return Clock(last_wall, last_wall - first_wall, last - first)


def judge(clock: Clock) -> Iterator[Check]:
    """Check `clock`."""
    apart = clock.wall_elapsed - clock.monotonic_elapsed
    if clock.wall < EARLIEST:
        says = datetime.fromtimestamp(max(0.0, clock.wall), UTC).date()
        yield Check("clock", "problem", f"the wall clock says {says}, which is over", _ADVICE)
    elif abs(apart) > JUMP_SECONDS:
        found = f"the wall clock moved by {apart:+.2f} s while this looked"
        yield Check("clock", "problem", found, _ADVICE)
    elif abs(apart) > DRIFT * clock.monotonic_elapsed:
        rate = 100.0 * apart / clock.monotonic_elapsed
        yield Check("clock", "warning", f"the wall clock goes {rate:+.1f} % against the monotonic one", _ADVICE)
    else:
        found = f"wall and monotonic agree to {1e3 * abs(apart):.1f} ms over {clock.monotonic_elapsed:.1f} s"
        yield Check("clock", "ok", found)


def _both(wall: Callable[[], float], monotonic: Callable[[], float]) -> tuple[float, float]:
    """Both clocks at one moment: the closest of a few tries, for this process may be held up between two readings."""
    tries = []
    for _ in range(_TRIES):
        before, now, after = monotonic(), wall(), monotonic()
        tries.append((after - before, now, 0.5 * (before + after)))
    _, now, moment = min(tries)
    return now, moment
