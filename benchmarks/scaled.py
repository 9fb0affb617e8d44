"""Jobs of any size for the benchmarks: the 42 ms anatomy on as many nodes as asked for."""

from __future__ import annotations

from dataclasses import replace

from simulator.job import JobSpec
from simulator.presets import preset
from simulator.timeline import StepModel

STEP_SECONDS = 0.042
_GPUS_PER_NODE = 8
_BUCKET_BYTES = 100 * 2**20


def anatomy(ranks: int) -> JobSpec:
    """`anatomy-32gpu` on so many GPUs and still with a healthy step of 42 ms.

    Its buckets are larger, since starting a collective costs more the more nodes there are; what that takes from the
    step, or leaves, the data loader makes up for. ValueError for a size that no such job has.
    """
    if ranks % _GPUS_PER_NODE or ranks < _GPUS_PER_NODE:
        raise ValueError(f"ranks: {ranks!r} is not a multiple of {_GPUS_PER_NODE}")
    job = preset("anatomy-32gpu")
    job = replace(
        job,
        preset=f"anatomy-{ranks}gpu",
        cluster=replace(job.cluster, nodes=ranks // _GPUS_PER_NODE),
        training=replace(job.training, bucket_bytes=_BUCKET_BYTES),
    )
    missing = STEP_SECONDS - StepModel(job, seed=1).healthy_step_seconds
    return replace(job, loader=replace(job.loader, service_seconds=job.loader.service_seconds + missing))
