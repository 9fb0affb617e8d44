"""How a job slows down as GPUs are added."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np

from simulator.gpus import H100_SXM
from simulator.job import Cluster, JobSpec
from simulator.presets import preset
from tests.oracles.oracle import Oracle, rows
from tests.oracles.runs import healthy_durations

_MLPERF = "MLPerf v3.1 GPT-3 logs: median step 1.608 s at 4,096 and 1.619 s at 8,192 H100"
_PLAYBOOK = "HF Ultra-Scale Playbook, data-parallel scaling at a constant global batch"
_MICRO_BATCHES = 256
_EFFICIENCY = 0.341
"""η of the 1.2B job, set so that 8 GPUs reach the published tokens per second; the rest of the curve follows."""


def weak_scaling_cost(name: str) -> float:
    """Percent of throughput per GPU that 8,192 GPUs lose against 4,096, same work per GPU, collectives overlapped."""
    base = preset(name)
    assert base.training.overlap
    medians = [
        float(np.median(healthy_durations(replace(base, cluster=replace(base.cluster, nodes=nodes)), steps=48)))
        for nodes in (512, 1_024)
    ]
    return (1.0 - medians[0] / medians[1]) * 100.0


def fixed_batch(gpus: int) -> JobSpec:
    """1.2B parameters, fp32 gradients, 256 micro-batches of 2,048 tokens per step over all GPUs."""
    base = preset("workshop-4gpu")
    training = replace(
        base.training,
        micro_batch=1,
        gradient_accumulation=_MICRO_BATCHES // gpus,
        gradient_bytes_per_parameter=4.0,
        compute_efficiency=_EFFICIENCY,
    )
    return replace(base, cluster=Cluster(nodes=gpus // 8, gpus_per_node=8, gpu=H100_SXM), training=training)


@cache
def tokens_per_gpu(gpus: int) -> float:
    """Tokens per second and GPU of that job."""
    spec = fixed_batch(gpus)
    return float(spec.tokens_per_step / healthy_durations(spec, steps=32).mean() / gpus)


def fixed_batch_loss() -> float:
    """Percent of throughput per GPU lost from 8 to 256 GPUs."""
    return (1.0 - tokens_per_gpu(256) / tokens_per_gpu(8)) * 100.0


def fixed_batch_error() -> float:
    """Largest relative error of tokens per second along the published curve, in percent."""
    errors = [
        abs(tokens_per_gpu(int(row["gpus"])) / float(row["tokens_per_s_per_gpu"]) - 1.0)
        for row in rows("mfu_points.csv")
        if row["system"].startswith("HF Ultra-Scale")
    ]
    return max(errors) * 100.0


ORACLES = (
    Oracle("weak-pipelined", "4,096 → 8,192 GPUs, llama3-405b-16k cut to size: cost", _MLPERF,
           lambda: weak_scaling_cost("llama3-405b-16k"), low=0.0, high=2.0, unit="%"),
    Oracle("weak-fsdp", "4,096 → 8,192 GPUs, honest-64xh100 grown: cost", _MLPERF,
           lambda: weak_scaling_cost("honest-64xh100"), low=0.0, high=2.0, unit="%"),
    Oracle("fixed-batch", "8 → 256 GPUs at a fixed batch, 1.2B: loss (published 60.9 %)", _PLAYBOOK,
           fixed_batch_loss, low=55.0, high=65.0, unit="%", digits=1),
    Oracle("fixed-batch-curve", "tokens/s at 8, 16, … 256 GPUs: largest error", _PLAYBOOK,
           fixed_batch_error, high=15.0, unit="%", digits=1),
)  # fmt: skip
