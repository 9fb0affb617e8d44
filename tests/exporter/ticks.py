"""Synthetic ticks: any number of ranks and nodes, every value drawn from a seed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace

import numpy as np

from simulator.names import PHASES, STEP_SECONDS_BUCKETS
from simulator.observation import Counters, Devices, FaultView, GpuIdentity, Learning, RunInfo, StepTrace, Tick

START = 1_700_000_000.0


def run_info(*, ranks: int = 4, gpus_per_node: int = 4, nics: int = 0, run: str = "workshop-4gpu-1") -> RunInfo:
    """A run of `ranks` GPUs; the last node may be partly used."""
    nodes = -(-ranks // gpus_per_node)
    gpus = tuple(
        GpuIdentity(
            rank=rank,
            node=rank // gpus_per_node,
            gpu=rank % gpus_per_node,
            uuid=f"GPU-{rank:08x}-5eed-4000-8000-{rank:012x}",
            pci_bus_id=f"00000000:{0x18 + rank % gpus_per_node:02X}:00.0",
            device=f"nvidia{rank % gpus_per_node}",
        )
        for rank in range(ranks)
    )
    return RunInfo(
        run=run,
        preset="workshop-4gpu",
        seed=7,
        model="gpt-1.2b",
        precision="bf16",
        strategy="ddp",
        flops_convention="6N+12LdT",
        gpu_model="NVIDIA H100 80GB HBM3",
        driver_version="550.90.07",
        ranks=ranks,
        nodes=nodes,
        gpus_per_node=gpus_per_node,
        hostnames=tuple(f"node-{node:02d}" for node in range(nodes)),
        nic_devices=tuple(f"mlx5_{nic}" for nic in range(nics)),
        gpus=gpus,
        flops_per_token=7.2e9,
        hardware_flops_per_token=7.2e9,
        peak_flops_per_second=ranks * 989.4e12,
        tokens_per_step=ranks * 16_384,
        samples_per_step=ranks * 8,
        dataloader_capacity_batches=16,
        framebuffer_total_mib=81_559,
        framebuffer_used_mib=61_234,
        framebuffer_reserved_mib=551,
        memory_clock_mhz=2_619,
        clipped=True,
        warnings=(),
    )


def tick(info: RunInfo, *, index: int = 60, seed: int = 1, faults: tuple[FaultView, ...] = ()) -> Tick:
    """A tick of `info` with every reading present."""
    rng = np.random.default_rng([seed, index])
    return Tick(
        info=info,
        index=index,
        seconds=index + 1.0,
        timestamp=START + index + 1.0,
        next_step=5 * index + 2,
        devices=_devices(rng, info.ranks),
        counters=_counters(rng, info, index),
        learning=Learning(loss=2.75 + rng.normal(0, 0.01), grad_norm=0.24, learning_rate=3e-4, loss_scale=1.0),
        queue_batches=rng.integers(0, 16, info.ranks).astype(np.float64),
        step_mfu=0.42,
        step_hfu=0.42,
        step_seconds=0.2,
        last_step=_last_step(rng, info, index),
        last_step_timestamp=START + index + 0.875,
        faults=faults,
    )


def with_devices(source: Tick, changes: Mapping[str, Mapping[int, float]]) -> Tick:
    """`source` with single device readings replaced: `{"power_watts": {2: nan}}`."""
    arrays = {}
    for name, values in changes.items():
        array = getattr(source.devices, name).copy()
        for rank, value in values.items():
            array[rank] = value
        arrays[name] = array
    return replace(source, devices=replace(source.devices, **arrays))


def without_gpu(source: Tick, rank: int) -> Tick:
    """`source` in which the GPU of `rank` gives no reading at all."""
    names = [f.name for f in fields(Devices) if f.name != "throttle_reasons"]
    return with_devices(source, {name: {rank: float("nan")} for name in names})


@dataclass
class StubEngine:
    """What the pages need of an engine, set by hand."""

    tick: Tick | None = None
    lag_seconds: float = 0.0
    skipped_seconds: float = 0.0
    failure: str | None = None
    events: dict[tuple[str, str], int] = field(default_factory=dict)

    def fault_event_counts(self) -> Mapping[tuple[str, str], int]:
        return self.events


@dataclass
class StubClock:
    """A clock that stands still."""

    now: float = START

    def __call__(self) -> float:
        return self.now


def _devices(rng: np.random.Generator, ranks: int) -> Devices:
    ratio = rng.uniform(0, 1, (8, ranks))
    rates = rng.uniform(0, 450e9, (4, ranks))
    return Devices(
        gpu_util_percent=rng.uniform(0, 100, ranks),
        gr_engine_active=ratio[0],
        sm_active=ratio[1],
        sm_occupancy=ratio[2],
        tensor_active=ratio[3],
        dram_active=ratio[4],
        fp32_active=ratio[5],
        fp16_active=ratio[6],
        mem_copy_util_percent=100 * ratio[7],
        power_watts=rng.uniform(110, 700, ranks),
        temperature_celsius=rng.uniform(30, 87, ranks),
        memory_temperature_celsius=rng.uniform(30, 95, ranks),
        sm_clock_mhz=rng.uniform(500, 1980, ranks),
        throttle_reasons=rng.choice([0, 4, 64], ranks).astype(np.int64),
        pcie_tx_bytes_per_second=rates[0] / 10,
        pcie_rx_bytes_per_second=rates[1] / 10,
        nvlink_tx_bytes_per_second=rates[2],
        nvlink_rx_bytes_per_second=rates[3],
    )


def _counters(rng: np.random.Generator, info: RunInfo, index: int) -> Counters:
    steps = 5 * index
    buckets = np.sort(rng.integers(0, steps + 1, len(STEP_SECONDS_BUCKETS) + 1))
    buckets[-1] = steps
    nics = (info.nodes, len(info.nic_devices))
    return Counters(
        steps=steps,
        tokens=steps * info.tokens_per_step,
        samples=steps * info.samples_per_step,
        model_flops=steps * info.tokens_per_step * info.flops_per_token,
        hardware_flops=steps * info.tokens_per_step * info.hardware_flops_per_token,
        step_seconds_sum=float(rng.uniform(0, 300)),
        step_seconds_buckets=buckets.astype(np.int64),
        checkpoints=1,
        nonfinite_steps=0,
        skipped_steps=0,
        grad_norm_spikes=2,
        phase_seconds=rng.uniform(0, index + 1, (len(PHASES), info.ranks)),
        collective_seconds=rng.uniform(0, index + 1, info.ranks),
        collective_bytes=rng.uniform(0, 1e15, info.ranks),
        energy_joules=rng.uniform(0, 1e9, info.ranks),
        thermal_violation_seconds=rng.uniform(0, 10, info.ranks),
        power_violation_seconds=rng.uniform(0, 10, info.ranks),
        xid=np.zeros(info.ranks, dtype=np.int64),
        correctable_remapped_rows=np.zeros(info.ranks, dtype=np.int64),
        uncorrectable_remapped_rows=np.zeros(info.ranks, dtype=np.int64),
        storage_read_bytes=rng.uniform(0, 1e12, info.nodes),
        network_transmit_bytes=rng.uniform(0, 1e15, nics),
        network_pause_frames=rng.uniform(0, 10, nics).round(),
        network_retransmits=rng.uniform(0, 10, nics).round(),
    )


def _last_step(rng: np.random.Generator, info: RunInfo, index: int) -> StepTrace:
    seconds = rng.uniform(0, 0.05, (len(PHASES), info.ranks))
    return StepTrace(
        step=5 * index,
        start_seconds=float(index),
        duration_seconds=0.21,
        starts=np.cumsum(seconds, axis=0) - seconds,
        seconds=seconds,
        slowest_rank=int(rng.integers(info.ranks)),
    )
