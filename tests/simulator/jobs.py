"""Jobs for tests: small, of every shape that the step model knows."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

from hypothesis import strategies as st

from faults.book import FaultBook
from faults.parse import parse_fault
from simulator.gpus import H100_SXM
from simulator.headless import start
from simulator.job import Cluster, JobSpec, Loader, Model, Noise, Training
from simulator.presets import preset
from simulator.run import Run, topology_of

FAULTS = (
    "straggler:ranks=1,slowdown=1.5",
    "straggler:ranks=0,slowdown=4,intensity=mild",
    "straggler:percent=50,slowdown=1.2",
    "io_starvation:mode=tail",
    "io_starvation:mode=tail,lateness_steps=3",
    "io_starvation:mode=node",
    "io_starvation:mode=uniform,intensity=moderate",
    "gradient_explosion",
    "none",
    "thermal_throttle:ranks=1",
    "power_cap:percent=50,limit_watts=400",
    "straggler:ranks=1,slowdown=3,shape=flap,period_seconds=2",
    "io_starvation:mode=uniform,shape=sine,period_seconds=3",
    "dataloader_cpu",
    "shard_boundary:every_steps=7",
    "numa_misaffinity:percent=50",
    "gc_pause:pause_seconds=0.05,every_steps=9",
    "gc_pause:ranks=1,shape=flap,period_seconds=2",
    "checkpoint_stall:every_steps=11",
    "sequence_imbalance:longest=2.5",
    "loss_plateau:intensity=moderate",
    "nan_loss:chance=0.02",
)


def small(**changes: object) -> JobSpec:
    """A 4-GPU job with a 30-50 ms step; `changes` replace fields of its training or loader, by name."""
    spec = JobSpec(
        preset="small",
        title="a job for tests",
        cluster=Cluster(nodes=1, gpus_per_node=4, gpu=H100_SXM),
        model=Model("m", parameters=0.2e9, layers=12, hidden=1_024, heads=16, sequence=1_024, vocabulary=50_304),
        training=Training(micro_batch=8, compute_efficiency=0.45),
        loader=Loader(workers=4, service_seconds=0.04, sample_bytes=1e6),
    )
    for name in ("training", "loader", "noise", "cluster"):
        part: Any = getattr(spec, name)
        own = {field.name: changes[field.name] for field in fields(part) if field.name in changes}
        spec = replace(spec, **{name: replace(part, **own)})
    return spec


def quiet() -> Noise:
    """No noise at all."""
    return Noise(jitter_cv=0.0, chip_spread=0.0, stall_rate=0.0)


def jobs() -> st.SearchStrategy[JobSpec]:
    """Jobs over strategy, overlap, accumulation, recompute, loading, nodes, stalls and checkpoints."""
    return st.builds(
        small,
        strategy=st.sampled_from(["ddp", "fsdp"]),
        overlap=st.booleans(),
        gradient_accumulation=st.sampled_from([1, 3]),
        recompute=st.booleans(),
        workers=st.sampled_from([0, 1, 4]),
        device_prefetch=st.booleans(),
        nodes=st.sampled_from([1, 2, 4]),
        gpus_per_node=st.sampled_from([2, 4, 8]),
        checkpoint_every_steps=st.sampled_from([0, 7]),
        checkpoint_seconds=st.just(0.05),
        stall_rate=st.sampled_from([0.0, 0.1]),
        backward_ratio=st.sampled_from([1.5, 2.0]),
        nic_bytes_per_second=st.sampled_from([50e9, 2e9]),
    )


def run_with(spec: JobSpec, *faults: str, seed: int = 1) -> Run:
    """A run with these faults from its first step."""
    return start(spec, seed=seed, faults=[parse_fault(text) for text in faults])


def workshop(*faults: str, seed: int = 1) -> Run:
    """The default preset with these faults from its first step."""
    return run_with(preset("workshop-4gpu"), *faults, seed=seed)


def book_for(spec: JobSpec, *, seed: int = 1) -> FaultBook:
    """An empty book that fits this job."""
    return FaultBook(topology_of(spec), seed=seed)
