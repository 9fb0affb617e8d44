"""What the all-reduce of a job does inside a step, against what the idle fabric can do.

Inside a step the same all-reduce leaves in buckets, shares the SMs with backward and waits for the slowest rank. So a
fabric that passes its acceptance test and a slow job go together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from faults.spec import FaultSpec
from simulator.collective import all_reduce_fit, bus_bytes, data_parallel_group
from simulator.headless import start
from simulator.job import JobSpec
from simulator.observation import Floats
from simulator.timeline import COLLECTIVE, COLLECTIVE_WAIT

_STEPS = 3
"""The last of these is looked at, so that a slow loader has had time to starve its rank."""


@dataclass(frozen=True, slots=True)
class PerRank:
    """Seconds per step, averaged over the ranks and on the worst one."""

    mean: float
    worst: float
    rank: int
    """The worst one; the lowest of equals."""


@dataclass(frozen=True, slots=True)
class InJob:
    """The gradient collectives of one step. GB/s are 1e9 bytes per second of bus bandwidth."""

    preset: str
    step: int
    step_seconds: float
    kind: str
    """What the collectives are, in words."""
    collectives: int
    bucket_bytes: int
    """Size of one of them, as all but the first and the last are."""
    bytes_per_step: int
    """What a rank puts into all of them together."""
    kernel_seconds: PerRank
    """Time inside collective kernels, overlapped and spinning included."""
    exposed_seconds: PerRank
    """Time after the last arrival that no compute hides."""
    waiting_seconds: PerRank
    """Time spinning for the last arrival, and for the pipeline."""
    share_of_step: float
    """Exposed and waiting time over the step, mean over ranks."""
    busbw_gb_per_s: float
    """Bytes on the bus over time inside the kernels: what a monitor shows of this step."""
    idle_busbw_gb_per_s: float
    """The same size on the idle fabric."""
    sm_share: float
    """Share of the SMs that they take from compute while both run; 0 without overlap."""
    pipelined: bool
    """Whether waiting includes the pipeline's bubble."""

    @property
    def sentence(self) -> str:
        """The same in plain words."""
        waits = self.waiting_seconds
        whom = "the slowest rank and for the pipeline" if self.pipelined else "the slowest one"
        beside = f", taking {100 * self.sm_share:.0f} % of the SMs from compute beside them" if self.sm_share else ""
        return (
            f"Inside step {self.step} of {self.preset} the {self.collectives} {self.kind} of "
            f"{_size(self.bucket_bytes)} reach {self.busbw_gb_per_s:.3g} GB/s of bus bandwidth{beside}; "
            f"the healthy idle fabric gives {self.idle_busbw_gb_per_s:.3g}. {100 * self.share_of_step:.1f} % of the "
            f"{_duration(self.step_seconds)} step goes into them in the open, and rank {waits.rank} waits "
            f"{_duration(waits.worst)} for {whom}."
        )


def in_job(spec: JobSpec, *, seed: int, faults: Sequence[FaultSpec] = ()) -> InJob:
    """What the last of a few steps of this job did with its collectives, under these faults.

    ValueError for a job without data parallelism, FaultError for a fault that does not fit the job.
    """
    if spec.replicas == 1:
        raise ValueError(f"preset: {spec.preset} holds one copy of the model: it has no gradients to reduce")
    run = start(spec, seed=seed, faults=faults, full_queues=False)
    ended = 0
    while ended < _STEPS:
        run.advance()
        ended += len(run.ended)
        if run.stands_still:
            raise ValueError("fault: no step ends under it, all ranks wait in a collective for ever")
    block = run.ended[-1][0]
    chain = run.model.chain
    sharded = spec.training.strategy == "fsdp"
    bucket = _bucket_bytes(spec)
    kernels, exposed, waiting = block.kernel_seconds[0], block.phases[0, COLLECTIVE], block.phases[0, COLLECTIVE_WAIT]
    group, at_once = data_parallel_group(spec)
    idle = float(all_reduce_fit(group, spec.nccl).seconds(np.array(bucket * at_once)))
    return InJob(
        preset=spec.preset,
        step=block.first_step,
        step_seconds=float(block.durations[0]),
        kind="all-gathers and reduce-scatters" if sharded else "all-reduces",
        collectives=len(chain.seconds),
        bucket_bytes=round(bucket),
        bytes_per_step=round(chain.bus_bytes / bus_bytes(1.0, spec.replicas)),
        kernel_seconds=_per_rank(kernels),
        exposed_seconds=_per_rank(exposed),
        waiting_seconds=_per_rank(waiting),
        share_of_step=float(exposed.mean() + waiting.mean()) / float(block.durations[0]),
        busbw_gb_per_s=chain.bus_bytes / float(kernels.mean()) / 1e9,
        idle_busbw_gb_per_s=bus_bytes(bucket, spec.replicas) / idle / 1e9,
        sm_share=chain.contention,
        pipelined=spec.training.pipeline_parallel > 1,
    )


def _bucket_bytes(spec: JobSpec) -> float:
    """Bytes of a full bucket (DDP) or of one layer (FSDP)."""
    training = spec.training
    gradients = spec.model.parameters * training.gradient_bytes_per_parameter / spec.model_ranks
    if training.strategy == "fsdp":
        return gradients / spec.model.layers * training.pipeline_parallel
    return min(training.bucket_bytes, gradients)


def _per_rank(seconds: Floats) -> PerRank:
    return PerRank(float(seconds.mean()), float(seconds.max()), int(seconds.argmax()))


def _size(size_bytes: float) -> str:
    return f"{size_bytes / 2**30:.3g} GiB" if size_bytes >= 2**30 else f"{size_bytes / 2**20:.3g} MiB"


def _duration(seconds: float) -> str:
    return f"{seconds:.3g} s" if seconds >= 1.0 else f"{1e3 * seconds:.3g} ms"
