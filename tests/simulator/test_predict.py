"""A prediction is what the run then does."""

from __future__ import annotations

import pytest

from faults.parse import parse_fault
from simulator import predict as module
from simulator.headless import start
from simulator.job import JobSpec
from simulator.predict import Prediction, predict
from simulator.presets import preset
from simulator.run import Run
from tests.simulator.jobs import small

WORKSHOP, HONEST = preset("workshop-4gpu"), preset("honest-64xh100")


def predicted(spec: JobSpec, *faults: str) -> Prediction:
    return predict(spec, parse_fault(faults[0]), live=[parse_fault(text) for text in faults[1:]], seed=3)


def settled_step_seconds(spec: JobSpec, *faults: str, after: int, seconds: int) -> float:
    """Mean step of a run that has had its faults for `after` seconds already."""
    run = start(spec, seed=3, faults=[parse_fault(text) for text in faults])
    for _ in range(after):
        first = run.advance().counters
    for _ in range(seconds):
        last = run.advance().counters
    return (last.step_seconds_sum - first.step_seconds_sum) / (last.steps - first.steps)


@pytest.mark.parametrize("spec", [WORKSHOP, HONEST], ids=lambda spec: spec.preset)
@pytest.mark.parametrize(
    "fault",
    [
        "thermal_throttle:ranks=1,intensity=moderate",
        "thermal_throttle:ranks=1",
        "thermal_throttle:percent=50,intensity=moderate",
        "power_cap:ranks=1",
        "straggler:ranks=1",
        "dataloader_cpu",
        "shard_boundary",
        "numa_misaffinity:percent=50",
        "gc_pause",
        "checkpoint_stall",
        "sequence_imbalance",
    ],
)
def test_is_what_the_run_does_once_it_has_settled(spec: JobSpec, fault: str) -> None:
    found = predicted(spec, fault)
    seconds = 600 if spec is WORKSHOP else 1_800
    done = settled_step_seconds(spec, fault, after=150, seconds=seconds)
    assert found.step_seconds.after == pytest.approx(done, rel=0.06)
    assert found.mfu.after / found.mfu.before == pytest.approx(
        found.step_seconds.before / found.step_seconds.after, rel=1e-9
    )


def test_a_board_that_is_hot_and_no_more_costs_nothing() -> None:
    found = predicted(WORKSHOP, "thermal_throttle:ranks=1,intensity=mild")
    assert found.step_seconds.after == found.step_seconds.before
    assert found.power_watts.after == found.power_watts.before


def test_a_throttled_board_that_is_there_already_is_in_both_sides() -> None:
    found = predicted(WORKSHOP, "straggler:ranks=2,slowdown=1.1", "thermal_throttle:ranks=1")
    assert found.step_seconds.before > 0.6
    assert found.step_seconds.after == pytest.approx(found.step_seconds.before, rel=0.02)


def test_what_comes_seldom_is_followed_for_whole_cycles() -> None:
    found = predicted(WORKSHOP, "checkpoint_stall:every_steps=500,block_steps=30")
    assert found.step_seconds.after / found.step_seconds.before == pytest.approx(1 + 30 / 500, rel=0.01)
    assert not found.cut_short


def test_a_cycle_that_nobody_can_wait_for_says_so() -> None:
    assert predicted(WORKSHOP, "gc_pause:every_steps=10000").cut_short


@pytest.mark.parametrize("fault", ["loss_plateau", "nan_loss", "gradient_explosion"])
def test_faults_of_the_learning_are_predicted_to_cost_no_time(fault: str) -> None:
    found = predicted(WORKSHOP, fault)
    for change in (found.step_seconds, found.mfu, found.gpu_util_percent, found.power_watts):
        assert change.after == change.before


def test_no_fault_changes_nothing() -> None:
    found = predict(small(), None, seed=3)
    assert found.step_seconds.before == found.step_seconds.after


@pytest.mark.parametrize(("ranks_seconds", "seconds"), [(4 * 100, 100), (1, 45), (10**9, 300)])
def test_time_to_follow_temperatures_is_bounded(
    monkeypatch: pytest.MonkeyPatch, ranks_seconds: int, seconds: int
) -> None:
    advanced: dict[int, float] = {}
    advance = Run.advance

    def counted(self: Run) -> object:
        tick = advance(self)
        advanced[id(self)] = tick.seconds
        return tick

    monkeypatch.setattr(module, "_RANK_SECONDS", ranks_seconds)
    monkeypatch.setattr(Run, "advance", counted)
    predicted(small(), "thermal_throttle:ranks=1")
    assert list(advanced.values()) == [seconds, seconds]


@pytest.mark.parametrize("fault", ["straggler:ranks=1,slowdown=4", "io_starvation:mode=uniform,lateness_steps=5"])
@pytest.mark.parametrize("steps", ["few", "none"])
def test_the_work_of_a_prediction_is_bounded_however_long_a_step(
    monkeypatch: pytest.MonkeyPatch, fault: str, steps: str
) -> None:
    ticks = 0
    advance = Run.advance

    def counted(self: Run) -> object:
        nonlocal ticks
        ticks += 1
        return advance(self)

    patience = 1_000 if steps == "few" else 60
    monkeypatch.setattr(module, "_RANK_TICKS", HONEST.ranks * patience)
    monkeypatch.setattr(Run, "advance", counted)
    found = predicted(HONEST, *[fault] * 60)
    assert ticks <= 2 * patience
    assert found.cut_short
    healthy = 1.95
    assert found.step_seconds.after > 10 * healthy


def test_a_prediction_that_follows_temperatures_is_bounded_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_RANK_SECONDS", 1)
    monkeypatch.setattr(module, "_RANK_TICKS", 1)
    found = predicted(HONEST, "thermal_throttle:ranks=1", *["straggler:ranks=1,slowdown=4"] * 60)
    assert found.cut_short
    assert found.step_seconds.before > 20


def test_most_predictions_are_not_cut_short() -> None:
    for spec in (WORKSHOP, HONEST):
        assert not predicted(spec, "straggler:ranks=1,slowdown=4").cut_short
