"""Remedies on a run: what a restart costs, and that a job put right is the job that was never ill."""

from __future__ import annotations

import numpy as np
import pytest

from faults.parse import parse_fault
from faults.treatment import RemedySpec
from simulator.headless import start
from simulator.names import PHASES
from simulator.observation import Tick
from simulator.presets import preset
from simulator.run import Run

DOWN = 40
STALL = PHASES.index("stall")


def apply(run: Run, name: str, **fields: object) -> None:
    spec = RemedySpec.from_mapping({"remedy": name, **fields})
    treatment, _ = run.faults.treat(
        spec, at_seconds=run.seconds, next_step=run.next_step, restart_seconds=run.spec.training.restart_seconds
    )
    if treatment.restart_seconds:
        run.restart(treatment.restart_seconds)


def rate(run: Run, seconds: int) -> float:
    """Tokens per second over the whole steps that end in the next seconds; 0 when none does."""
    before = run.advance().counters
    for _ in range(seconds):
        after = run.advance().counters
    steps = after.steps - before.steps
    return steps * run.spec.tokens_per_step / (after.step_seconds_sum - before.step_seconds_sum) if steps else 0.0


def ticks(run: Run, seconds: int) -> list[Tick]:
    return [run.advance() for _ in range(seconds)]


def test_a_restart_costs_what_it_costs_and_no_more() -> None:
    run = start(preset("workshop-4gpu"), seed=3)
    last = ticks(run, 20)[-1]
    apply(run, "restart_job")
    down = ticks(run, DOWN)
    assert down[-1].counters.steps == last.counters.steps
    stalled = down[-1].counters.phase_seconds - last.counters.phase_seconds
    assert stalled[STALL] == pytest.approx(np.full(4, DOWN), abs=1.0)
    assert stalled.sum(axis=0) == pytest.approx(np.full(4, DOWN), rel=1e-9)
    for tick in down[2:]:
        assert tick.devices.gpu_util_percent.max() == 0.0
        assert tick.devices.tensor_active.max() == 0.0
        assert tick.devices.power_watts.max() < 0.3 * last.devices.power_watts.min()
    back = ticks(run, 10)
    assert back[-1].devices.gpu_util_percent.min() > 99.0
    assert back[-1].counters.steps > last.counters.steps + 35


def test_the_model_goes_back_to_its_last_good_checkpoint() -> None:
    run = start(preset("workshop-4gpu"), seed=3)
    healthy = ticks(run, 30)[-1].learning.loss
    run.faults.put("boom", parse_fault("gradient_explosion"), at_seconds=run.seconds, next_step=run.next_step)
    lost = ticks(run, 60)[-1].learning
    assert lost.loss > 1.1 * healthy
    apply(run, "roll_back")
    again = ticks(run, DOWN + 40)[-1].learning
    assert again.grad_norm > 50, "what ruined it ruins it again"
    apply(run, "clip_and_lower_lr")
    well = ticks(run, DOWN + 40)[-1].learning
    assert well.grad_norm < 2.0
    assert well.loss == pytest.approx(healthy, rel=0.05)
    assert well.learning_rate == pytest.approx(0.3 * again.learning_rate, rel=0.01)


def test_a_job_put_right_is_as_one_that_was_never_ill() -> None:
    ill, well = (start(preset("workshop-4gpu"), seed=5) for _ in range(2))
    ill.faults.put("slow", parse_fault("straggler:ranks=2"), at_seconds=0.0, next_step=0)
    assert rate(ill, 30) < 0.75 * rate(well, 30)
    apply(ill, "cordon_node", target={"mode": "nodes", "value": [0]})
    apply(well, "restart_job")
    for run in (ill, well):
        ticks(run, DOWN + 60)
    assert rate(ill, 30) == pytest.approx(rate(well, 30), rel=0.01)
    assert [record.told for record in ill.faults.list()] == ["cleared"]


@pytest.mark.parametrize("name", ["NCCL_BUFFSIZE", "cache_on_nvme", "restart_job", "NCCL_CROSS_NIC"])
def test_a_wrong_remedy_costs_its_restart_and_changes_nothing(name: str) -> None:
    run = start(preset("honest-64xh100"), seed=5, faults=[parse_fault("straggler:ranks=20")])
    slow = rate(run, 60)
    apply(run, name)
    assert rate(run, DOWN - 2) == 0.0
    ticks(run, 10)
    assert rate(run, 60) == pytest.approx(slow, rel=0.03)


def test_a_wrong_value_makes_a_healthy_job_slower() -> None:
    run = start(preset("honest-64xh100"), seed=5)
    well = rate(run, 60)
    apply(run, "NCCL_BUFFSIZE", value=65_536)
    ticks(run, DOWN + 5)
    assert rate(run, 60) < 0.99 * well
    apply(run, "NCCL_BUFFSIZE")
    ticks(run, DOWN + 5)
    assert rate(run, 60) == pytest.approx(well, rel=0.01)


def test_a_hang_ends_with_the_job_that_hung() -> None:
    run = start(preset("workshop-4gpu"), seed=5, faults=[parse_fault("hang:ranks=1")])
    assert rate(run, 30) == 0.0
    apply(run, "restart_job")
    ticks(run, DOWN + 2)
    assert rate(run, 20) > 0.0


def test_a_fault_that_hangs_the_job_again_is_felt_after_the_restart() -> None:
    run = start(preset("honest-64xh100"), seed=5, faults=[parse_fault("pfc_storm")])
    assert rate(run, 30) == 0.0
    apply(run, "restart_job")
    tick = ticks(run, DOWN + 30)[-1]
    assert tick.devices.gpu_util_percent.min() == 100.0, "it stands in its collectives again, and looks busy"
    assert tick.counters.steps == 0
    apply(run, "pfc_headroom")
    ticks(run, 5)
    assert rate(run, 30) > 0.0
