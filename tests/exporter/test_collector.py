"""A collector: one cycle at a time, back-off, age, counts, and news for the log only when there are any."""

from __future__ import annotations

import logging
import threading
from dataclasses import replace
from typing import Any

import pytest

from exporter.collector import CRASHED, HUNG, Collector, Pace, pause_seconds
from exporter.reading import Reading
from exporter.source import SourceError
from exporter.state import STALE, STARTING
from tests.exporter.nodes import START, Clock, Scripted, board, failing, reading

GOOD = reading(board(0), board(1))
PATIENCE = 20.0
"""Seconds after which a hung test fails; none passes by waiting for it."""


class Bench:
    """One collector and its clock."""

    def __init__(self, act: Any = None, **pace: float) -> None:
        self.clock = Clock()
        self.source = Scripted(act or (lambda _: GOOD))
        self.collector = Collector(self.source, pace=Pace(**pace), clock=self.clock, wall=self.clock.wall)

    @property
    def state(self) -> Any:
        return self.collector.state()

    def takes(self, seconds: float, found: Reading = GOOD) -> None:
        """The next cycles last so long."""

        def act(_: float) -> Reading:
            self.clock.now += seconds
            return found

        self.source.act = act


def test_before_the_first_cycle_everything_is_announced_and_nothing_is_up() -> None:
    state = Bench().state
    assert (state.up, state.reason, state.reading, state.gpus) == (False, STARTING, None, ())
    assert set(state.errors) == {*Scripted(lambda _: GOOD).error_reasons, HUNG, CRASHED}
    assert set(state.skipped) == {"running", "backoff"}
    assert {*state.errors.values(), *state.dropped.values(), *state.skipped.values()} == {0}


def test_a_good_cycle() -> None:
    bench = Bench()
    bench.clock.now = 5.0
    bench.takes(0.25)
    assert bench.collector.cycle() == pytest.approx(0.75), "the next begins an interval after this began"
    state = bench.state
    assert (state.up, state.reason, state.reading, state.failures) == (True, "", GOOD, 0)
    assert (state.present, state.expected) == (2, 2)
    assert state.collect_seconds == pytest.approx(0.25)
    assert state.last_success == START + 5.25


def test_the_deadline_is_told_to_the_source() -> None:
    told = []

    def act(deadline: float) -> Reading:
        told.append(deadline)
        return GOOD

    bench = Bench(act, deadline=3.0)
    bench.clock.now = 100.0
    bench.collector.cycle()
    assert told == [103.0]


def test_pauses_double_up_to_a_minute() -> None:
    assert [pause_seconds(n) for n in range(1, 9)] == [1, 2, 4, 8, 16, 32, 60, 60]
    assert pause_seconds(10**9) == 60
    bench = Bench(failing("unknown"))
    assert [bench.collector.cycle() for _ in range(8)] == [1, 2, 4, 8, 16, 32, 60, 60]
    bench.source.act = lambda _: GOOD
    bench.collector.cycle()
    bench.source.act = failing("unknown")
    assert bench.collector.cycle() == 1, "one success forgets all failures"


def test_another_reason_is_news_and_begins_the_pauses_anew() -> None:
    bench = Bench(failing("library_not_found"))
    assert [bench.collector.cycle() for _ in range(4)] == [1, 2, 4, 8]
    bench.source.act = failing("driver_not_loaded")
    assert [bench.collector.cycle() for _ in range(3)] == [1, 2, 4]
    assert bench.state.failures == 7


def test_a_board_that_was_read_earlier_lasts_no_longer_for_it() -> None:
    """A source may show what a stuck board said before; its age counts from when it was read, not from the cycle."""
    stuck = replace(board(1), taken_at=96.0)
    found = reading(board(0), stuck)
    bench = Bench(lambda _: found, max_age=10.0)
    bench.clock.now = 100.0
    bench.collector.cycle()
    assert bench.state.present == 2
    assert bench.state.reading == found
    bench.clock.now = 107.0
    state = bench.state
    assert [(gpu.key, gpu.reason) for gpu in state.gpus] == [(board(0).key, ""), (stuck.key, STALE)]
    shown = {sample.gpu for samples in state.reading.families.values() for sample in samples}
    assert shown == {board(0).key}
    assert (state.up, state.present, state.expected) == (True, 1, 2)


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (SourceError("version_mismatch", "one\nline"), "version_mismatch"),
        (SourceError("never_announced", "x"), CRASHED),
        (ValueError("boom"), CRASHED),
        (MemoryError(), CRASHED),
        (SystemExit(3), CRASHED),
        (KeyboardInterrupt(), CRASHED),
        (RecursionError(), CRASHED),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else value,
)
def test_whatever_a_source_raises_costs_only_itself(error: BaseException, reason: str) -> None:
    def act(_: float) -> Reading:
        raise error

    bench = Bench(act)
    bench.collector.cycle()
    state = bench.state
    assert (state.up, state.reason, state.failures) == (False, reason, 1)
    assert state.errors[reason] == 1 == sum(state.errors.values())
    assert "\n" not in state.detail


@pytest.mark.parametrize(
    "nonsense",
    [None, 3, {"families": {}}, replace(GOOD, families=None), replace(GOOD, gpus=7)],  # type: ignore[arg-type]
)
def test_nonsense_is_a_crash_of_the_source(nonsense: object) -> None:
    bench = Bench(lambda _: nonsense)
    bench.collector.cycle()
    assert (bench.state.up, bench.state.reason) == (False, CRASHED)


def test_a_reading_is_shown_for_its_age_and_no_longer() -> None:
    bench = Bench(max_age=10.0)
    bench.collector.cycle()
    bench.source.act = failing("unknown")
    bench.clock.now = 1.0
    bench.collector.cycle()
    assert (bench.state.up, bench.state.reading) == (False, GOOD), "down, and not forgotten yet"
    bench.clock.now = 10.0
    assert bench.state.reading == GOOD
    bench.clock.now = 10.001
    state = bench.state
    assert (state.reading, state.present, state.expected) == (None, 0, 2)
    assert not bench.collector.has_reading()
    assert [(gpu.uuid, gpu.reason) for gpu in state.gpus] == [(gpu.uuid, "unknown") for gpu in GOOD.gpus]


def test_age_counts_from_the_beginning_of_a_cycle() -> None:
    bench = Bench(max_age=10.0, deadline=8.0)
    bench.takes(4.0)
    bench.collector.cycle()
    bench.clock.now = 10.001
    assert (bench.state.reading, bench.state.up, bench.state.reason) == (None, False, STALE)
    assert {gpu.reason for gpu in bench.state.gpus} == {STALE}


def test_a_cycle_that_was_too_late_is_counted_and_used() -> None:
    bench = Bench(deadline=5.0, max_age=10.0)
    bench.takes(6.0)
    assert bench.collector.cycle() == 0.0
    assert (bench.state.up, bench.state.errors[HUNG], bench.state.reading) == (True, 1, GOOD)
    assert bench.state.skipped["running"] == 5, "those due 1, 2, 3, 4 and 5 s after it began"


def test_while_a_cycle_hangs_the_last_reading_ages_and_counts_go_on() -> None:
    bench = Bench(deadline=5.0, max_age=10.0)
    bench.collector.cycle()
    seen = []

    def hang(_: float) -> Reading:
        for second in range(2, 32):
            bench.clock.now = float(second)
            seen.append(bench.state)
        return GOOD

    bench.source.act = hang
    bench.clock.now = 1.0
    bench.collector.cycle()
    by_second = dict(zip(range(2, 32), seen, strict=True))
    assert by_second[5].up
    assert (by_second[6].up, by_second[6].reason, by_second[6].failures) == (False, HUNG, 1)
    assert by_second[10].reading == GOOD
    assert by_second[11].reading is None
    assert by_second[31].failures == 6, "it counts once for each deadline that has passed"
    for name in ("errors", "skipped"):
        counts = [getattr(state, name) for state in (*seen, bench.state)]
        for key in counts[0]:
            values = [count[key] for count in counts]
            assert values == sorted(values), f"{name} {key} never goes back"
    assert bench.state.skipped["running"] == 29
    assert bench.state.errors[HUNG] == 1


def test_cycles_that_back_off_are_counted_as_they_fall_due() -> None:
    bench = Bench(failing("unknown"))
    for _ in range(4):
        bench.clock.now += bench.collector.cycle()
    # Pauses of 1, 2, 4 and 8 s: all but the last cycle that was due in each did not begin.
    assert bench.state.skipped == {"running": 0, "backoff": 0 + 1 + 3 + 7}
    bench.source.act = lambda _: GOOD
    bench.collector.cycle()
    bench.clock.now += 100.0
    assert bench.state.skipped["backoff"] == 11, "after a success nothing is held back"


def test_counts_of_a_reading_add_up_and_stay_within_what_was_announced() -> None:
    bench = Bench(lambda _: replace(GOOD, dropped={"range": 2, "odd": 1}, errors={"unknown": 1, "odd": 1}))
    bench.collector.cycle()
    bench.collector.cycle()
    assert bench.state.dropped == {"range": 4, "malformed": 2, "duplicate": 0}
    assert (bench.state.errors["unknown"], bench.state.errors[CRASHED]) == (2, 2)
    assert bench.state.up


def test_the_log_hears_of_changes_only(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="exporter")
    bench = Bench(failing("driver_not_loaded"))
    for _ in range(50):
        bench.collector.cycle()
    bench.source.act = failing("version_mismatch")
    for _ in range(50):
        bench.collector.cycle()
    bench.source.act = lambda _: GOOD
    for _ in range(50):
        bench.collector.cycle()
    bench.source.act = lambda _: reading(board(0), board(1, reason="gpu_lost"))
    for _ in range(50):
        bench.collector.cycle()
    assert [record.levelname for record in caplog.records] == ["WARNING", "WARNING", "INFO", "INFO"]
    assert "nvml is up: 1 of 2 GPUs" in caplog.records[-1].message


def test_what_nobody_asked_for_is_no_news(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="exporter")
    source = Scripted(failing("library_not_found"))
    collector = Collector(source, clock=Clock(), quiet=True)
    for _ in range(3):
        collector.cycle()
    assert not caplog.records
    source.act = lambda _: GOOD
    collector.cycle()
    source.act = failing("unknown")
    collector.cycle()
    assert [record.levelname for record in caplog.records] == ["INFO", "WARNING"], "what was there and is lost is"


def test_a_thread_collects_until_it_is_stopped_and_then_closes_the_source() -> None:
    thrice = threading.Event()

    def act(_: float) -> Reading:
        if source.cycles == 3:
            thrice.set()
        return GOOD

    source = Scripted(act)
    collector = Collector(source, pace=Pace(interval=0.001))
    collector.start()
    assert thrice.wait(PATIENCE)
    assert collector.stop(timeout=PATIENCE)
    assert source.closed == 1


def test_a_hung_cycle_is_left_behind_and_its_thread_keeps_nobody() -> None:
    entered, release = threading.Event(), threading.Event()

    def act(_: float) -> Reading:
        entered.set()
        release.wait(PATIENCE)
        return GOOD

    source = Scripted(act)
    collector = Collector(source)
    collector.start()
    assert entered.wait(PATIENCE)
    assert collector.state().reason == STARTING, "asking does not wait for the cycle"
    assert not collector.stop(timeout=0.0)
    (thread,) = (thread for thread in threading.enumerate() if thread.name == "collect-nvml")
    assert thread.daemon
    release.set()
    thread.join(PATIENCE)
    assert source.closed == 1
    assert source.cycles == 1


def test_a_source_that_cannot_be_closed_ends_all_the_same() -> None:
    class Stuck(Scripted):
        def close(self) -> None:
            raise RuntimeError("no")

    collector = Collector(Stuck(lambda _: GOOD), pace=Pace(interval=0.001))
    collector.start()
    assert collector.stop(timeout=PATIENCE)
