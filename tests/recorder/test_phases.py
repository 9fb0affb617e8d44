"""Phases and steps as a script marks them."""

from __future__ import annotations

import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.names import STEP_SECONDS_BUCKETS
from stepscope.recorder.books import RECORDED, Books
from tests.recorder.parts import Bench


def test_a_step_and_its_phases(bench: Bench) -> None:
    bench.clock.turn(1.0)  # before the first step: stall
    with bench.rec.step():
        for number, name in enumerate(RECORDED, start=1):
            with bench.rec.phase(name):
                bench.clock.turn(0.25 * number)
        bench.clock.turn(0.5)  # in a step, and in no phase: stall too
    report = bench.report()
    assert report["phases"] == {name: 0.25 * number for number, name in enumerate(RECORDED, start=1)} | {"stall": 3.5}
    assert report["step_seconds"]["sum"] == pytest.approx(9.5)
    assert (report["steps"], report["tokens"], report["model_flops"], report["checkpoints"]) == (1, 1, 6.0, 1)
    assert report["last_step_time"] == report["time"]


def test_the_running_phase_counts_up_to_now(bench: Bench) -> None:
    with bench.rec.step(), bench.rec.phase("forward"):
        for second in (1.0, 2.0, 3.0):
            bench.clock.turn(1.0)
            report = bench.report()
            assert report["phases"]["forward"] == pytest.approx(second)
            assert sum(report["phases"].values()) == pytest.approx(report["time"] - report["started"])
            assert report["steps"] == 0, "a step counts when it ends"
            assert "last_step_time" not in report


@given(
    events=st.lists(
        st.tuples(
            st.sampled_from(["turn", "begin", "end", "abandon"]), st.integers(0, len(RECORDED) - 1), st.floats(0, 9)
        )
    )
)
@settings(max_examples=200)
def test_phases_always_add_up_to_the_time_since_the_start(events: list[tuple[str, int, float]]) -> None:
    now = 5.0
    books = Books(now, flops_per_token=1.0)
    before = books.seconds_until(now)
    for what, phase, elapsed in events:
        now += elapsed
        match what:
            case "turn":
                books.turn(phase, now)
            case "begin":
                books.begin_step(now)
            case "end":
                books.end_step(1, 0, now)
            case "abandon":
                books.abandon_step(now)
        seconds = books.seconds_until(now)
        assert sum(seconds) == pytest.approx(now - 5.0)
        assert all(new >= old for new, old in zip(seconds, before, strict=True)), "totals never fall"
        before = seconds
    assert books.steps == sum(books.step_counts)


def test_the_wait_for_the_batch_belongs_to_the_step_wherever_it_is(bench: Bench) -> None:
    for _ in range(3):
        with bench.rec.phase("data_wait"):
            bench.clock.turn(0.3)
        with bench.rec.step(), bench.rec.phase("forward"):
            bench.clock.turn(0.1)
        with bench.rec.checkpoint():
            bench.clock.turn(5.0)
    report = bench.report()
    assert report["step_seconds"]["sum"] == pytest.approx(1.2)
    assert report["step_seconds"]["counts"][STEP_SECONDS_BUCKETS.index(0.4)] == 3
    assert report["checkpoints"] == 3


def test_a_step_that_raises_is_not_done(bench: Bench) -> None:
    def fails() -> None:
        with bench.rec.step(), bench.rec.phase("backward"):
            bench.clock.turn(2.0)
            raise MemoryError

    with pytest.raises(MemoryError):
        fails()
    with pytest.raises(OSError, match="full"), bench.rec.checkpoint():
        raise OSError("disk full")
    with bench.rec.step(), bench.rec.phase("forward"):
        bench.clock.turn(1.0)
    report = bench.report()
    assert (report["steps"], report["checkpoints"]) == (1, 0)
    assert report["phases"]["backward"] == pytest.approx(2.0), "its time was spent all the same"
    assert report["step_seconds"]["sum"] == pytest.approx(1.0)


def test_a_step_that_is_left_early_is_done(bench: Bench) -> None:
    for _ in range(2):
        with bench.rec.step():
            continue
    assert bench.report()["steps"] == 2


@pytest.mark.parametrize("name", ["foreward", "collective_wait", "", None, ["forward"]])
def test_an_unknown_phase_is_named(bench: Bench, name: str) -> None:
    with pytest.raises(ValueError, match=r"^phase: .* is not one of data_wait, h2d,"):
        bench.rec.phase(name)


def test_a_phase_inside_another_is_refused_and_the_outer_one_goes_on(bench: Bench) -> None:
    with bench.rec.phase("forward"):
        with (
            pytest.raises(ValueError, match="'backward' is opened inside 'forward'"),
            bench.rec.phase("backward"),
        ):
            pass
        bench.clock.turn(1.0)
    assert bench.report()["phases"]["forward"] == pytest.approx(1.0)


def test_a_step_inside_a_step_or_a_phase_is_refused(bench: Bench) -> None:
    with bench.rec.step(), pytest.raises(ValueError, match="step: opened inside a step"), bench.rec.step():
        pass
    with (
        bench.rec.phase("forward"),
        pytest.raises(ValueError, match="step: opened inside the phase 'forward'"),
        bench.rec.step(),
    ):
        pass
    assert bench.report()["steps"] == 1


def test_another_thread_cannot_open_a_phase_of_the_one_that_trains(bench: Bench) -> None:
    said: list[str] = []

    def elsewhere() -> None:
        try:
            with bench.rec.phase("data_wait"):
                pass
        except ValueError as error:
            said.append(str(error))

    with bench.rec.step(), bench.rec.phase("forward"):
        thread = threading.Thread(target=elsewhere)
        thread.start()
        thread.join()
        bench.clock.turn(1.0)
    assert said == ["phase: opened in another thread than the one that trains; a recorder follows one"]
    assert bench.report()["phases"]["forward"] == pytest.approx(1.0)


@pytest.mark.parametrize("tokens", [-1, 1.5, "many"])
def test_tokens_of_a_step_are_a_whole_number(bench: Bench, tokens: int) -> None:
    with pytest.raises(ValueError, match="tokens"):
        bench.rec.step(tokens=tokens)


def test_tokens_and_samples_may_differ_from_step_to_step(bench: Bench) -> None:
    with bench.rec.step(tokens=7, samples=2):
        pass
    with bench.rec.step(tokens=0):
        pass
    with bench.rec.step():
        pass
    report = bench.report()
    assert (report["steps"], report["tokens"], report["samples"], report["model_flops"]) == (3, 8, 2, 48.0)


def test_a_closed_recorder_is_silent_and_never_in_the_way(bench: Bench) -> None:
    with bench.rec.step(), bench.rec.phase("forward"):
        bench.rec.close()
    with bench.rec.step(), bench.rec.checkpoint():
        bench.rec.log(loss=1.0)
    bench.rec.close()
    (report,) = bench.listener.reports()
    assert report["final"] is True
    assert report["steps"] == 0
