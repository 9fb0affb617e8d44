"""Whatever a fault went through, a job that is rid of it is the job that never had it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from faults.change import FaultChange
from faults.parse import parse_fault
from simulator.run import Run
from tests.simulator.jobs import run_with, small

CLEARED_AT, SETTLED_AT, END = 20, 30, 60


def phases(run: Run, second: int) -> dict[int, np.ndarray]:
    """Phase durations by step index, of the steps that ended in a second after all has settled."""
    return {block.first_step: block.phases[0] for block, _ in run.ended} if second >= SETTLED_AT else {}


@pytest.mark.parametrize(
    "fault",
    [
        "straggler:ranks=2,shape=flap,period_seconds=4",
        "straggler:ranks=2,shape=sine,period_seconds=7",
        "straggler:ranks=2,shape=exponential,ramp_up_seconds=8,ramp_down_seconds=8",
        "io_starvation:mode=tail,shape=flap,period_seconds=4",
        "network_tail_latency:shape=sine,period_seconds=6",
        "power_cap:ranks=1,shape=flap,period_seconds=6",
        "dataloader_cpu:nodes=1,shape=flap,period_seconds=4",
        "shard_boundary:every_steps=7,shape=sine,period_seconds=7",
        "numa_misaffinity:percent=50,shape=flap,period_seconds=4",
        "gc_pause:pause_seconds=0.05,shape=linear,ramp_up_seconds=8",
        "checkpoint_stall:every_steps=11,shape=flap,period_seconds=6",
        "sequence_imbalance:shape=sine,period_seconds=7",
    ],
)
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {3: {"intensity": 0.5}, 6: {"intensity": 1.0}},
        {4: {"paused": True}, 9: {"paused": False}},
        {8: {"paused": True}},
        {5: {"duration_seconds": 12}},
    ],
    ids=["left alone", "changed", "paused and resumed", "cleared in a pause", "expired"],
)
def test_cleared_equals_never_injected(fault: str, changes: dict[int, dict[str, Any]]) -> None:
    job = small(nodes=2, gpus_per_node=4)
    broken, calm = run_with(job, seed=5), run_with(job, seed=5)
    broken.faults.put("f", parse_fault(fault), at_seconds=0.0, next_step=0)
    seen: tuple[dict[int, np.ndarray], dict[int, np.ndarray]] = {}, {}
    acted = 0
    for second in range(END):
        if second in changes:
            change = FaultChange.from_mapping(changes[second])
            broken.faults.change("f", change, at_seconds=broken.seconds, next_step=broken.next_step)
        if second == CLEARED_AT:
            broken.faults.clear("f", at_seconds=broken.seconds)
        acted += len(broken.advance().faults)
        calm.advance()
        for found, run in zip(seen, (broken, calm), strict=True):
            found |= phases(run, second)
    assert acted > 0
    shared = sorted(seen[0].keys() & seen[1].keys())
    assert len(shared) > 500
    for step in shared:
        np.testing.assert_array_equal(seen[0][step], seen[1][step])


def test_a_flap_comes_and_goes_with_the_step_time() -> None:
    job = small().without_noise()
    run, healthy = run_with(job, "straggler:ranks=2,slowdown=2,shape=flap,period_seconds=10,duty=0.3"), run_with(job)
    calm = healthy.advance().step_seconds
    slow = [run.advance().step_seconds > 1.3 * calm for _ in range(30)]
    # A step that runs when the fault comes or goes ends as it began.
    assert [second % 10 for second in range(30) if slow[second]] == [0, 1, 2] * 3
