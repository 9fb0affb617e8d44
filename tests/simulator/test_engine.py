"""The engine keeps time, says when it cannot, and survives a crash of the run."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import Any

import pytest

from faults.change import FaultChange
from faults.parse import parse_fault
from faults.treatment import RemedySpec
from simulator import preview as preview_module
from simulator.clock import ManualClock
from simulator.engine import Engine
from simulator.observation import Tick
from simulator.presets import preset
from simulator.run import Run
from tests.simulator.jobs import small


class Stage:
    """An engine without a thread, and the clock that drives it."""

    def __init__(self, **changes: Any) -> None:
        self.clock = ManualClock()
        self.engine = Engine(small(**changes), seed=1, clock=self.clock)

    def turn(self, seconds: float) -> int:
        self.clock.turn(seconds)
        return self.engine.pump()

    @property
    def tick(self) -> Tick:
        tick = self.engine.tick
        assert tick is not None
        return tick

    @property
    def acting(self) -> list[float]:
        """Intensities of the faults that act."""
        return [view.intensity for view in self.tick.faults]


def test_the_first_tick_is_there_at_once_and_one_comes_every_second() -> None:
    stage = Stage()
    assert stage.engine.tick is None
    assert stage.turn(0.0) == 1
    assert stage.turn(0.4) == 0
    assert stage.turn(0.7) == 1
    assert stage.tick.timestamp == pytest.approx(stage.clock.time() - 0.1)
    assert stage.turn(1.0) == 1


def test_a_late_tick_is_caught_up_and_lag_is_reported_meanwhile() -> None:
    stage = Stage()
    stage.turn(0.0)
    stage.clock.turn(12.5)
    assert stage.engine.lag_seconds == pytest.approx(11.5)
    assert stage.engine.pump() == 12
    assert stage.engine.lag_seconds == 0.0
    assert stage.tick.timestamp == pytest.approx(stage.clock.time() - 0.5)


def test_a_backlog_too_long_is_skipped_said_and_counted() -> None:
    stage = Stage()
    stage.turn(0.0)
    assert stage.turn(3_600.0) == 1
    assert stage.engine.skipped_seconds == pytest.approx(3_599.0)
    assert stage.tick.seconds == 2.0
    assert stage.tick.timestamp == pytest.approx(stage.clock.time())
    assert [entry.event for entry in stage.engine.journal.after(1)] == ["clock_moved"]


def test_timestamps_follow_a_wall_clock_that_was_set() -> None:
    stage = Stage()
    stage.turn(0.0)
    stage.clock.set_wall(7_200.0)
    stage.turn(1.0)
    assert stage.tick.timestamp == pytest.approx(stage.clock.time())
    assert stage.tick.seconds == 2.0


def test_a_fault_acts_from_the_step_that_the_answer_names() -> None:
    stage = Stage()
    stage.turn(5.0)
    shown, created = stage.engine.put_fault("slow", parse_fault("straggler:ranks=2,slowdown=2"))
    assert created
    assert shown["effective_from_step"] == stage.tick.next_step
    stage.turn(1.0)
    assert stage.tick.step_mfu < 0.7 * stage.engine.history.samples()[0].mfu
    assert [view.name for view in stage.tick.faults] == ["slow"]
    stage.engine.clear_fault("slow")
    stage.turn(1.0)
    assert stage.tick.faults == ()
    events = [(entry.event, entry.name) for entry in stage.engine.journal.after(0) if entry.name]
    assert events == [("created", "slow"), ("started", "slow"), ("peaked", "slow"), ("cleared", "slow")]
    assert stage.engine.fault_event_counts()["straggler", "cleared"] == 1


def test_reset_clears_faults_and_brings_a_diverged_model_back() -> None:
    stage = Stage(clip_norm=None)
    stage.turn(3.0)
    stage.engine.put_fault("boom", parse_fault("gradient_explosion"))
    stage.turn(5.0)
    assert stage.tick.learning.loss != stage.tick.learning.loss
    stage.engine.reset()
    stage.turn(2.0)
    assert stage.tick.learning.loss == pytest.approx(stage.tick.learning.loss)
    assert all(fault["state"] == "cleared" for fault in stage.engine.list_faults())


def test_a_new_job_gets_a_new_label_and_ends_the_faults_of_the_old_one() -> None:
    stage = Stage()
    stage.turn(3.0)
    stage.engine.put_fault("slow", parse_fault("straggler"))
    stage.engine.start_job("anatomy-32gpu", seed=9)
    assert stage.tick.info.run == "anatomy-32gpu-2"
    assert stage.tick.counters.phase_seconds.sum() == pytest.approx(32.0)
    assert stage.engine.list_faults() == []
    assert [entry.event for entry in stage.engine.journal.after(2)] == ["aborted", "run_ended", "run_started"]
    with pytest.raises(ValueError, match="run: 'anatomy-32gpu-2'"):
        stage.engine.start_job("anatomy-32gpu", seed=9, run="anatomy-32gpu-2")
    with pytest.raises(ValueError, match="preset: 'x' is not one of"):
        stage.engine.start_job("x", seed=9)


def test_a_crash_stops_the_run_is_said_and_a_new_job_goes_on(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    stage = Stage()
    stage.turn(2.0)
    last = stage.tick

    def crash() -> None:
        raise RuntimeError("out of cheese")

    monkeypatch.setattr(stage.engine._run, "advance", crash)
    assert stage.turn(1.0) == 0
    failure = stage.engine.failure
    assert failure == "RuntimeError: out of cheese"
    assert "the run crashed" in caplog.text
    assert stage.tick is last
    assert stage.turn(60.0) == 0
    stage.engine.start_job("workshop-4gpu", seed=1)
    assert stage.engine.failure is None
    assert stage.turn(1.0) == 1


def test_a_dry_run_predicts_and_changes_nothing() -> None:
    stage = Stage()
    stage.turn(3.0)
    shown, prediction = stage.engine.preview_fault("slow", parse_fault("straggler:ranks=2,slowdown=1.5"))
    assert shown["state"] == "active"
    assert prediction.step_seconds.after > 1.3 * prediction.step_seconds.before
    assert prediction.mfu.after < 0.8 * prediction.mfu.before
    assert stage.engine.list_faults() == []
    before = len(stage.engine.journal.after(0))
    stage.turn(1.0)
    assert len(stage.engine.journal.after(0)) == before
    assert stage.tick.faults == ()


def test_a_change_acts_from_the_step_that_the_answer_names() -> None:
    stage = Stage()
    stage.engine.put_fault("slow", parse_fault("straggler:ranks=2,slowdown=2,intensity=mild"))
    stage.turn(5.0)
    mild = stage.tick.step_seconds
    shown = stage.engine.change_fault("slow", FaultChange(intensity=1.0))
    assert shown["effective_from_step"] == stage.tick.next_step
    stage.turn(2.0)
    assert stage.tick.step_seconds > 1.4 * mild
    stage.engine.change_fault("slow", FaultChange(paused=True))
    stage.turn(2.0)
    assert stage.tick.step_seconds < mild
    assert stage.acting == []
    stage.engine.change_fault("slow", FaultChange(paused=False))
    stage.turn(2.0)
    assert stage.acting == [1.0]
    told = [(entry.event, entry.detail) for entry in stage.engine.journal.after(0) if entry.name][3:]
    assert told == [("changed", "intensity 0.25 to 1"), ("paused", ""), ("resumed", "")]
    assert stage.engine.fault_event_counts()["straggler", "paused"] == 1
    with pytest.raises(KeyError):
        stage.engine.change_fault("nobody", FaultChange(paused=True))


def test_a_fault_without_a_name_gets_one() -> None:
    stage = Stage()
    stage.turn(1.0)
    foreseen, _ = stage.engine.preview_fault(None, parse_fault("straggler"))
    shown = stage.engine.post_fault(parse_fault("straggler"))
    assert shown["name"] == "straggler-1"
    assert shown == foreseen


def test_a_dry_run_of_a_change_is_about_the_fault_as_it_would_be() -> None:
    stage = Stage()
    stage.engine.put_fault("slow", parse_fault("straggler:ranks=2,slowdown=2"))
    stage.turn(2.0)
    before = stage.engine.get_fault("slow")
    steps = [
        stage.engine.preview_change("slow", change)[1].step_seconds
        for change in (FaultChange(intensity=0.5), FaultChange(), FaultChange(paused=True))
    ]
    now = steps[0].before
    assert [step.before for step in steps] == [now, now, now]
    assert steps[2].after < steps[0].after < steps[1].after == now
    assert stage.engine.get_fault("slow") == before


def test_a_dry_run_begins_at_the_job_as_it_is_now() -> None:
    stage = Stage()
    healthy = stage.engine.preview_fault("other", parse_fault("none"))[1].step_seconds.before
    stage.engine.put_fault("slow", parse_fault("straggler:ranks=2,slowdown=2"))
    stage.engine.put_fault("later", replace(parse_fault("straggler:ranks=1,slowdown=4"), start_after_seconds=60))
    rising = replace(parse_fault("straggler:ranks=3,slowdown=4"), ramp_up_seconds=3_600)
    stage.engine.put_fault("rising", rising)
    stage.turn(2.0)
    stage.engine.put_fault("paused", parse_fault("straggler:ranks=0,slowdown=4"))
    stage.engine.change_fault("paused", FaultChange(paused=True))
    slow = stage.engine.preview_fault("other", parse_fault("none"))[1].step_seconds
    assert slow.before == slow.after
    assert 1.5 * healthy < slow.before < 2.1 * healthy
    stronger = stage.engine.preview_fault("slow", parse_fault("straggler:ranks=2,slowdown=4"))[1].step_seconds
    assert stronger.before == pytest.approx(slow.before, rel=1e-9)
    assert stronger.after > 1.5 * slow.before
    milder = stage.engine.preview_fault("slow", parse_fault("straggler:ranks=2,slowdown=2,intensity=mild"))[1]
    assert milder.step_seconds.after < milder.step_seconds.before


def test_a_dry_run_agrees_with_the_book_on_what_is_live() -> None:
    stage = Stage()
    stage.turn(1.0)
    for number in range(64):
        stage.engine.put_fault(f"f{number}", replace(parse_fault("none"), open_ended=False, duration_seconds=0.5))
    run = stage.engine._run
    run._index += 1  # Time has passed, and no tick has told the book.
    shown, _ = stage.engine.preview_fault("one-more", parse_fault("straggler"))
    assert shown["state"] == "active"


def test_a_prediction_does_not_hold_the_engine_up(monkeypatch: pytest.MonkeyPatch) -> None:
    stage = Stage()
    stage.turn(1.0)
    ticks: list[int] = []

    def beside(*_: object, **__: object) -> None:
        thread = threading.Thread(target=lambda: ticks.append(stage.turn(1.0)))
        thread.start()
        thread.join()

    monkeypatch.setattr(preview_module, "compare", beside)
    stage.engine.preview_fault("slow", parse_fault("straggler"))
    assert ticks == [1]


def test_a_thread_runs_the_engine_and_stops() -> None:
    engine = Engine(preset("workshop-4gpu"), seed=1)
    engine.start()
    entries = engine.journal.wait_after(0, timeout_seconds=5.0)
    assert entries[0].event == "run_started"
    engine.stop()
    assert not any(thread.name == "engine" and thread.is_alive() for thread in threading.enumerate())
    assert engine.journal.closed


def test_averages_over_the_last_minute_come_from_counters() -> None:
    stage = Stage()
    stage.turn(0.0)
    peak = stage.tick.info.peak_flops_per_second
    assert stage.engine.history.averages(peak_flops_per_second=peak) is None
    for _ in range(90):
        stage.turn(1.0)
    averages = stage.engine.history.averages(peak_flops_per_second=peak)
    assert averages is not None
    assert averages.seconds == 60.0
    assert averages.mfu == pytest.approx(stage.tick.step_mfu, rel=0.02)
    assert sum(averages.phases.values()) == pytest.approx(1.0)


def test_a_new_job_is_shown_from_its_first_tick_on(monkeypatch: pytest.MonkeyPatch) -> None:
    stage = Stage()
    stage.turn(3.0)
    stage.engine.put_fault("slow", parse_fault("straggler"))
    seen = []
    advance = Run.advance

    def watched(run: Run) -> Tick:
        tick = advance(run)
        now = stage.engine.snapshot()
        assert now is not None
        seen.append((now.tick.info.run, now.spec.preset, len(now.samples)))
        return tick

    monkeypatch.setattr(Run, "advance", watched)
    old = stage.tick.info.run
    samples = len(stage.engine.history.samples())
    started = stage.engine.start_job("anatomy-32gpu", seed=9)
    assert seen == [(old, "small", samples)]
    assert started.tick is stage.tick
    assert started.faults_ended == 1
    now = stage.engine.snapshot()
    assert now is not None
    assert (now.tick, now.spec.preset, len(now.samples)) == (started.tick, "anatomy-32gpu", 1)
    assert now.last_event == stage.engine.journal.last_seq
    assert now.tick.timestamp == stage.clock.time()
    started_at = next(entry for entry in stage.engine.journal.after(1) if entry.event == "run_started")
    assert (started_at.seconds, started_at.step) == (0.0, 0)
    assert stage.turn(1.0) == 1
    assert stage.tick.timestamp == stage.clock.time()


def test_a_job_that_cannot_begin_leaves_the_one_that_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    stage = Stage()
    stage.turn(3.0)
    with monkeypatch.context() as broken:
        broken.setattr(Run, "advance", lambda _: 1 // 0)
        with pytest.raises(ZeroDivisionError):
            stage.engine.start_job("anatomy-32gpu", seed=9)
    assert stage.turn(1.0) == 1
    assert stage.tick.info.ranks == 4


def test_readers_do_not_wait_for_a_second_that_is_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    stage = Stage()
    stage.turn(3.0)
    advance, seen = Run.advance, []

    def beside(run: Run) -> Tick:
        thread = threading.Thread(target=lambda: seen.append(stage.engine.snapshot()))
        thread.start()
        thread.join(20.0)
        return advance(run)

    monkeypatch.setattr(Run, "advance", beside)
    before = stage.tick
    stage.turn(1.0)
    assert [now.tick for now in seen if now is not None] == [before]


def test_what_the_drivers_say_is_in_the_log_when_it_is_said() -> None:
    stage = Stage()
    stage.turn(0.0)
    stage.engine.put_fault("gone", parse_fault("gpu_lost:ranks=1"))
    stage.turn(1.0)
    said = [entry for entry in stage.engine.journal.after(0) if entry.event == "kernel_log"]
    assert [entry.detail for entry in said] == [
        "node-00 kernel: NVRM: Xid (PCI:0000:2A:00): 79, GPU has fallen off the bus"
    ]
    assert said[0].kind is None, "it does not name the fault"
    stage.turn(5.0)
    assert len([entry for entry in stage.engine.journal.after(0) if entry.event == "kernel_log"]) == 1


def test_a_reset_lets_a_job_that_is_being_restarted_go_on() -> None:
    stage = Stage()
    stage.turn(0.0)
    stage.turn(5.0)
    stage.engine.apply_remedy(RemedySpec("restart_job"))
    stage.turn(2.0)
    before = stage.tick.counters.steps
    stage.turn(5.0)
    assert stage.tick.counters.steps == before
    stage.engine.reset()
    assert stage.engine.treatments() == (), "nothing is left that would say why it stands"
    stage.turn(3.0)
    assert stage.tick.counters.steps > before


def test_a_reset_lets_a_job_that_stands_still_go_on() -> None:
    stage = Stage()
    stage.turn(0.0)
    stage.engine.put_fault("stuck", parse_fault("hang:ranks=1"))
    stage.turn(5.0)
    before = stage.tick.counters.steps
    stage.turn(5.0)
    assert stage.tick.counters.steps == before
    stage.engine.reset()
    stage.turn(2.0)
    assert stage.tick.counters.steps > before
