"""One step drawn out: its phases, its collectives one by one, and the same step with nothing wrong."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from faults.effects import Effects, Topology
from simulator.job import JobSpec
from simulator.observation import Collectives, Floats, StepTrace
from simulator.timeline import Conditions, StepBlock, StepModel

MOST_GROUPS = 64
"""Collectives that are told apart for drawing; neighbours of more are shown as one."""


@dataclass(frozen=True, slots=True)
class Bucket:
    """Neighbouring collectives of one step, `count` of them from index `first` on. Seconds after the step began."""

    first: int
    count: int
    ready_seconds: float
    """When the last rank has the first of them ready."""
    start_seconds: float
    end_seconds: float
    busy_seconds: float
    """Time of their transfers; what is left of start to end is waiting for the next to be ready."""


def trace(step: StepBlock, model: StepModel) -> StepTrace:
    """The timeline of a block of one step of `model`."""
    seconds = step.phases[0]
    starts = np.cumsum(seconds, axis=0) - seconds
    for array in (seconds, starts):
        array.setflags(write=False)
    return StepTrace(
        step=step.first_step,
        start_seconds=float(step.starts[0]),
        duration_seconds=float(step.durations[0]),
        starts=starts,
        seconds=seconds,
        slowest_rank=int(step.arrivals[0].argmax()),
        collectives=_collectives(step, model),
    )


def buckets(found: Collectives, *, most: int = MOST_GROUPS) -> list[Bucket]:
    """When the collectives of a step run, at most `most` groups of neighbours; the chain itself is exact.

    A collective starts when every rank has it ready and the one before is done. Where they run beside forward and
    backward layer by layer, the model knows their sum and not their turns: they are one group then.
    """
    if found.mode == "none":
        return []
    starts, count = found.arrivals - found.windows, len(found.seconds)
    barrier, total = float(found.arrivals.max()), float(found.seconds.sum())
    if found.mode == "beside":
        exposed = found.seconds[0] + found.seconds[-1]
        end = float((starts + np.maximum(total, found.windows + exposed)).max())
        return [Bucket(0, count, float(starts.min()), float(starts.min()), end, total)]
    ready = np.full(count, barrier)
    if found.mode == "overlapped":
        # One at a time: a matrix of ranks × buckets of a large job is gigabytes.
        ready = np.array([(starts + share * found.windows).max() for share in found.ready.tolist()])
    before = np.cumsum(found.seconds) - found.seconds
    begins = np.maximum.accumulate(ready - before) + before
    return _grouped(ready, begins, found.seconds, most)


def _grouped(ready: Floats, begins: Floats, seconds: Floats, most: int) -> list[Bucket]:
    ends = begins + seconds
    edges = np.unique(np.linspace(0, len(seconds), min(most, len(seconds)) + 1).round().astype(int)).tolist()
    return [
        Bucket(
            first, last - first, float(ready[first]), float(begins[first]), float(ends[last - 1]),
            float(seconds[first:last].sum()),
        )
        for first, last in pairwise(edges)
    ]  # fmt: skip


def _collectives(step: StepBlock, model: StepModel) -> Collectives:
    chain, training = step.chain, model.spec.training
    sharded = training.strategy == "fsdp"
    if chain.total_seconds == 0.0:
        mode = "none"
    elif chain.bucketed:
        mode = "overlapped"
    else:
        mode = "beside" if sharded and training.overlap else "after"
    return Collectives(
        kind="gather-scatter" if sharded else "all-reduce",
        mode=mode,
        ready=chain.ready,
        seconds=chain.seconds * float(step.scale[0, 0]),
        arrivals=step.arrivals[0],
        windows=step.windows[0],
        bubble_seconds=model.bubble_seconds(step),
    )


class HealthySteps:
    """Any step of a job as it goes with nothing wrong: the same jitter, chips and stalls. For any thread.

    Queues are full and boards cool, so it is what the job would show that never had a fault.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: tuple[JobSpec, int, StepModel] | None = None

    def step(self, spec: JobSpec, *, seed: int, step: int) -> StepTrace:
        """Step `step` of this job under this seed; its start is unknown, and 0."""
        with self._lock:
            known = self._known
            if known is None or known[0] is not spec or known[1] != seed:
                known = self._known = (spec, seed, StepModel(spec, seed=seed))
            model = known[2]
            effects = Effects.neutral(Topology(spec.ranks, spec.cluster.gpus_per_node))
            calm = Conditions(np.full(spec.ranks, spec.cluster.gpu.healthy_clock_ratio), effects)
            loading = spec.loader.service_seconds if spec.loader.workers == 0 else 0.0
            waits = np.full((1, spec.ranks), spec.loader.dequeue_seconds + loading)
            return trace(model.steps(step, waits=waits, conditions=calm), model)
