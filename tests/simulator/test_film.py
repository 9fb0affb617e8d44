"""The film and the straggler: what each must show and must not move, against the same seed without the fault."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from faults.parse import parse_fault
from simulator.headless import simulate
from simulator.job import JobSpec
from simulator.names import PHASES
from simulator.presets import preset
from tests.simulator.jobs import small, workshop

WORKSHOP = preset("workshop-4gpu")
STEPS = 600


def summary(*faults: str, spec: JobSpec = WORKSHOP, steps: int = STEPS) -> dict[str, Any]:
    return simulate(spec, steps=steps, seed=3, faults=[parse_fault(text) for text in faults])


def mean(seen: dict[str, Any], key: str) -> float:
    return float(np.mean([rank[key] for rank in seen["ranks"]]))


HEALTHY = summary()


def test_starvation_by_a_storage_tail_keeps_utilization_and_takes_a_third_of_mfu() -> None:
    seen = summary("io_starvation:mode=tail,intensity=severe")
    assert mean(seen, "gpu_util") >= 90.0
    assert seen["mfu"] <= 0.70 * HEALTHY["mfu"]
    assert seen["phases"]["data_wait"] >= 20 * HEALTHY["phases"]["data_wait"]
    assert mean(seen, "power_watts") <= 0.85 * mean(HEALTHY, "power_watts")
    # Utilization is one less the share of time that the late rank, one of four, is idle.
    late = 0.5 / (4 * 1.5)
    assert mean(seen, "gpu_util") == pytest.approx(100 * (1 - late), abs=0.6)


def test_the_larger_the_job_the_better_a_storage_tail_hides() -> None:
    job = small(nodes=8, gpus_per_node=8)
    healthy, seen = (summary(*faults, spec=job, steps=300) for faults in ((), ("io_starvation:mode=tail",)))
    assert mean(seen, "gpu_util") >= 99.0 - (100.0 - mean(healthy, "gpu_util"))
    assert seen["mfu"] <= 0.70 * healthy["mfu"]


@pytest.mark.parametrize("mode", ["uniform", "node"])
def test_when_every_rank_of_the_job_is_late_utilization_falls_honestly(mode: str) -> None:
    seen = summary(f"io_starvation:mode={mode}")
    assert mean(seen, "gpu_util") < 75.0
    assert seen["mfu"] <= 0.70 * HEALTHY["mfu"]


def test_one_slow_mount_starves_its_node_and_the_others_wait() -> None:
    job = small(nodes=2, gpus_per_node=4)
    seen = summary("io_starvation:mode=node,nodes=1", spec=job, steps=400)
    phases = [rank["phases"] for rank in seen["ranks"]]
    for rank in range(4):
        assert phases[rank]["data_wait"] < 0.001
        assert phases[rank]["collective_wait"] > 10 * phases[4 + rank]["collective_wait"]
        assert phases[4 + rank]["data_wait"] > 0.01


def test_a_gradient_explosion_moves_the_learning_alone() -> None:
    seen = summary("gradient_explosion")
    assert seen["grad_norm"]["max"] >= 1000 * HEALTHY["grad_norm"]["last"]
    assert seen["loss"]["last"] > HEALTHY["loss"]["last"] + 1.0
    for key in ("mfu", "step_seconds", "phases"):
        assert seen[key] == HEALTHY[key]
    for with_fault, without in zip(seen["ranks"], HEALTHY["ranks"], strict=True):
        assert with_fault == without


def test_a_straggler_costs_its_share_and_hides_behind_full_utilization() -> None:
    seen = summary("straggler:ranks=2,slowdown=1.5")
    alone = HEALTHY["ranks"][2]["phases"]
    compute = (alone["forward"] + alone["backward"]) / HEALTHY["step_seconds"]["mean"]
    assert seen["step_seconds"]["mean"] / HEALTHY["step_seconds"]["mean"] == pytest.approx(1 + 0.5 * compute, rel=0.025)
    waits = [rank["phases"]["collective_wait"] for rank in seen["ranks"]]
    assert int(np.argmin(waits)) == 2
    assert min(waits[:2] + waits[3:]) > 50 * max(waits[2], 1e-6)
    tensor = [r["tensor_active"] / h["tensor_active"] for r, h in zip(seen["ranks"], HEALTHY["ranks"], strict=True)]
    assert max(tensor) < 0.75
    assert max(tensor) - min(tensor) < 0.01
    for rank, healthy in zip(seen["ranks"], HEALTHY["ranks"], strict=True):
        assert rank["gpu_util"] >= 98.0
        if rank["rank"] == 2:
            assert rank["power_watts"] >= healthy["power_watts"]
        else:
            assert rank["power_watts"] <= 0.85 * healthy["power_watts"]
    assert seen["loss"] == HEALTHY["loss"]


def test_the_null_kind_changes_nothing() -> None:
    seen = summary("none")
    assert seen == HEALTHY


@pytest.mark.parametrize("fault", ["io_starvation:mode=tail", "io_starvation:mode=uniform", "straggler:ranks=2"])
def test_cleared_equals_never_injected(fault: str) -> None:
    """By step index, once the queues have filled: phase durations to the bit, readings of whole minutes closely."""
    broken, calm = workshop(seed=5), workshop(seed=5)
    broken.faults.put("f", parse_fault(fault), at_seconds=0.0, next_step=0)
    phases: dict[str, dict[int, np.ndarray]] = {"broken": {}, "calm": {}}
    watts: dict[str, list[float]] = {"broken": [], "calm": []}
    for second in range(140):
        if second == 30:
            broken.faults.clear("f", at_seconds=broken.seconds)
        for name, run in (("broken", broken), ("calm", calm)):
            tick = run.advance()
            if second >= 60:
                watts[name].append(float(tick.devices.power_watts.mean()))
                phases[name] |= {block.first_step: block.phases[0] for block, _ in run.ended}
    shared = sorted(phases["broken"].keys() & phases["calm"].keys())
    assert len(shared) > 150
    for step in shared:
        np.testing.assert_array_equal(phases["broken"][step], phases["calm"][step], err_msg=PHASES[0])
    assert np.mean(watts["broken"]) == pytest.approx(np.mean(watts["calm"]), rel=0.005)


def test_starvation_is_over_within_a_minute_of_clearing() -> None:
    run, healthy = workshop(), workshop()
    run.faults.put("f", parse_fault("io_starvation:mode=uniform"), at_seconds=0.0, next_step=0)
    for _ in range(40):
        starved, before = run.advance(), healthy.advance()
    assert starved.step_mfu < 0.7 * before.step_mfu
    run.faults.clear("f", at_seconds=run.seconds)
    for _ in range(60):
        after, calm = run.advance(), healthy.advance()
    assert after.step_mfu == pytest.approx(calm.step_mfu, rel=0.01)
    assert after.queue_batches.min() >= 7
