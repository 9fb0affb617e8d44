"""What a GPU draws and shows while it waits in a collective."""

from __future__ import annotations

from functools import cache

import numpy as np

from faults.parse import parse_fault
from simulator.gpus import H100_SXM
from simulator.headless import simulate, start
from simulator.observation import Devices
from simulator.presets import preset
from tests.oracles.oracle import Oracle, rows
from tests.simulator.jobs import small

_LAW = "idle + (0.2 + 0.8 ρ)(full − idle), ρ the throughput against healthy"
_METERS = "MLPerf Training v4.0 power logs, Llama 2 70B LoRA on 8, 64 and 512 H100 of one system"
_SPINNING = "NCCL logs (16 of 132 SMs hold a channel), NVIDIA/nccl#1550 (152 W of 700 W at 100 % utilization)"


def power_law(throughput_ratio: float) -> float:
    """Share of the way from idle to full power of a rank that spins."""
    return 0.2 + 0.8 * throughput_ratio


@cache
def largest_law_error() -> float:
    """Model against law, over the ranks that spin for a straggler, from 1.1 to 4 times slower."""
    job, culprit = preset("workshop-4gpu"), 2
    idle, full = H100_SXM.bare_idle_watts, H100_SXM.compute.watts
    healthy = simulate(job, steps=300, seed=1)["tokens_per_second_per_gpu"]
    errors = []
    for slowdown in (1.1, 1.25, 1.5, 2.0, 3.0, 4.0):
        seen = simulate(job, steps=300, seed=1, faults=[parse_fault(f"straggler:ranks={culprit},slowdown={slowdown}")])
        law = power_law(seen["tokens_per_second_per_gpu"] / healthy)
        watts = [rank["power_watts"] for rank in seen["ranks"] if rank["rank"] != culprit]
        errors += [abs((value - idle) / (full - idle) - law) for value in watts]
    return float(max(errors))


def metered_law_error() -> float:
    """Law against node meters: the same job on more nodes of one system, where communication slows it down."""
    runs = {
        row["n_gpus"]: row
        for row in rows("power_vs_throughput.csv")
        if row["benchmark"] == "llama2_70b_lora" and row["round"] == "v4.0"
    }
    one = runs.pop("8")
    idle, full = float(one["node_min_w_median"]), float(one["block_p50_w"])
    errors = []
    for row in runs.values():
        law = power_law(float(row["tokens_per_s_per_gpu"]) / float(one["tokens_per_s_per_gpu"]))
        errors.append(abs((float(row["block_p50_w"]) - idle) / (full - idle) - law))
    return max(errors)


@cache
def inside_a_collective() -> Devices:
    """Readings of a second that lies wholly inside an all-reduce, on a fabric slow enough for that."""
    run = start(small(nodes=2, overlap=False, nic_bytes_per_second=2e6), seed=1)
    for _ in range(10):
        devices = run.advance().devices
    return devices


def _mean(name: str) -> float:
    return float(np.mean(getattr(inside_a_collective(), name)))


ORACLES = (
    Oracle("wait-power", f"power of ranks that spin, against {_LAW}: largest error of the share",
           _METERS, largest_law_error, high=0.05, digits=3),
    Oracle("wait-power-metered", "the law itself against node power at 64 and 512 GPUs: largest error of the share",
           _METERS, metered_law_error, high=0.05, digits=3),
    Oracle("collective-util", "GPU utilization inside a collective", _SPINNING,
           lambda: _mean("gpu_util_percent"), low=100.0, high=100.0, unit="%", digits=1),
    Oracle("collective-sm", "SM active inside a collective", _SPINNING, lambda: _mean("sm_active"),
           low=0.10, high=0.20, digits=3),
    Oracle("collective-tensor", "tensor active inside a collective", _SPINNING, lambda: _mean("tensor_active"),
           low=0.0, high=0.0, digits=3),
    Oracle("collective-watts", "power of an H100 inside a collective", _SPINNING, lambda: _mean("power_watts"),
           low=140.0, high=250.0, unit="W", digits=1),
)  # fmt: skip
