from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from faults.spec import FaultSpec
from simulator.headless import start
from simulator.observation import Collectives, StepTrace
from simulator.presets import PRESETS, preset
from simulator.timeline import BACKWARD, COLLECTIVE
from simulator.traced import HealthySteps, buckets

SMALL = [name for name, spec in PRESETS.items() if spec.ranks <= 64]


def last_step(name: str, *faults: FaultSpec, seconds: int = 4, seed: int = 5) -> StepTrace:
    run = start(preset(name), seed=seed, faults=faults)
    ticks = [run.advance() for _ in range(seconds)]
    step = ticks[-1].last_step
    assert step is not None
    return step


def collectives(step: StepTrace) -> Collectives:
    assert step.collectives is not None
    return step.collectives


SLOW = FaultSpec.from_mapping({"kind": "straggler", "target": {"mode": "ranks", "value": [1]}, "open_ended": True})
TAIL = FaultSpec.from_mapping({"kind": "network_tail_latency", "open_ended": True})


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("fault", [None, SLOW, TAIL], ids=["healthy", "straggler", "network tail"])
def test_the_last_bucket_ends_where_the_phase_of_the_collective_ends(name: str, fault: FaultSpec | None) -> None:
    if fault is TAIL and preset(name).cluster.nodes == 1:
        fault = None
    step = last_step(name, *([] if fault is None else [fault]))
    found = collectives(step)
    ends = step.starts[COLLECTIVE] + step.seconds[COLLECTIVE] - found.bubble_seconds
    assert buckets(found)[-1].end_seconds == pytest.approx(ends.max(), rel=1e-9)
    assert ends == pytest.approx(np.full(len(ends), ends.max()), rel=1e-9)


@pytest.mark.parametrize("name", ["workshop-4gpu", "anatomy-32gpu", "trap-87"])
def test_buckets_wait_for_their_turn_and_for_everybody(name: str) -> None:
    found = buckets(collectives(last_step(name, SLOW)), most=10_000)
    assert [bucket.first for bucket in found] == list(range(len(found)))
    for before, after in pairwise(found):
        assert after.start_seconds == pytest.approx(max(after.ready_seconds, before.end_seconds), rel=1e-9)
        assert after.ready_seconds >= before.ready_seconds
    assert all(bucket.end_seconds - bucket.start_seconds == pytest.approx(bucket.busy_seconds) for bucket in found)


def test_with_overlap_buckets_leave_during_backward_and_without_after_it() -> None:
    step = last_step("workshop-4gpu")
    ends = step.starts[BACKWARD] + step.seconds[BACKWARD]
    found = buckets(collectives(step))
    assert step.starts[BACKWARD].min() < found[0].start_seconds < ends.max()
    assert sum(bucket.end_seconds < ends.max() for bucket in found) > len(found) / 2
    step = last_step("anatomy-32gpu")
    barrier = collectives(step).arrivals.max()
    assert buckets(collectives(step))[0].start_seconds == pytest.approx(barrier)


def test_the_slowest_rank_holds_up_every_bucket() -> None:
    calm, slow = (buckets(collectives(last_step("workshop-4gpu", *faults))) for faults in ([], [SLOW]))
    assert all(late.ready_seconds > early.ready_seconds for early, late in zip(calm, slow, strict=True))


def test_groups_keep_every_collective_and_the_ends() -> None:
    found = collectives(last_step("workshop-4gpu"))
    each, few = buckets(found, most=10_000), buckets(found, most=7)
    assert len(few) == 7
    assert sum(bucket.count for bucket in few) == len(each) == len(found.seconds)
    assert (few[0].start_seconds, few[-1].end_seconds) == (each[0].start_seconds, each[-1].end_seconds)
    assert sum(bucket.busy_seconds for bucket in few) == pytest.approx(sum(bucket.busy_seconds for bucket in each))


def test_layers_that_are_gathered_beside_compute_have_no_turns() -> None:
    found = collectives(last_step("honest-64xh100"))
    (one,) = buckets(found)
    assert (found.kind, found.mode) == ("gather-scatter", "beside")
    assert one.count == len(found.seconds) == 3 * preset("honest-64xh100").model.layers
    assert one.busy_seconds < one.end_seconds - one.start_seconds


def test_alone_nobody_has_to_be_told() -> None:
    spec = preset("workshop-4gpu")
    alone = replace(spec, cluster=replace(spec.cluster, gpus_per_node=1))
    step = HealthySteps().step(alone, seed=1, step=3)
    assert collectives(step).mode == "none"
    assert buckets(collectives(step)) == []


@pytest.mark.parametrize("name", SMALL)
def test_a_healthy_step_is_the_step_of_a_job_that_never_had_a_fault(name: str) -> None:
    step = last_step(name)
    healthy = HealthySteps().step(preset(name), seed=5, step=step.step)
    assert healthy.seconds == pytest.approx(step.seconds, rel=1e-12)
    assert healthy.starts == pytest.approx(step.starts, rel=1e-12)
    assert healthy.slowest_rank == step.slowest_rank


def test_a_healthy_step_follows_job_and_seed_and_no_fault() -> None:
    steps, job = HealthySteps(), preset("workshop-4gpu")
    first = steps.step(job, seed=5, step=7)
    assert steps.step(job, seed=6, step=7).duration_seconds != first.duration_seconds
    assert steps.step(preset("trap-87"), seed=5, step=7).duration_seconds < first.duration_seconds
    assert steps.step(job, seed=5, step=7).duration_seconds == first.duration_seconds
    assert last_step("workshop-4gpu", SLOW).duration_seconds > 1.2 * first.duration_seconds
