"""Names of simulated things: hosts, GPUs, network devices. The same cluster has the same names in every run."""

from __future__ import annotations

import uuid
from functools import lru_cache

from simulator.job import JobSpec
from simulator.observation import GpuIdentity, RunInfo

DRIVER_VERSION = "570.124.06"
_BUS_IDS = (0x18, 0x2A, 0x3A, 0x5D, 0x9A, 0xAB, 0xBA, 0xDB)
"""PCI buses of the GPUs of an HGX node, as its topology lists them."""


def hostnames(nodes: int) -> tuple[str, ...]:
    """`node-00`, `node-01` and so on, as wide as the last one needs."""
    width = max(2, len(str(nodes - 1)))
    return tuple(f"node-{index:0{width}d}" for index in range(nodes))


@lru_cache(maxsize=2)
def _gpus(hosts: tuple[str, ...], per_node: int) -> tuple[GpuIdentity, ...]:
    """The GPUs of these hosts. Kept, since a large cluster has many and every prediction simulates it twice."""
    found = []
    for rank in range(len(hosts) * per_node):
        node, gpu = divmod(rank, per_node)
        bus = _BUS_IDS[gpu % len(_BUS_IDS)] + gpu // len(_BUS_IDS)
        name = uuid.uuid5(uuid.NAMESPACE_DNS, f"{hosts[node]}/{gpu}")
        found.append(GpuIdentity(rank, node, gpu, f"GPU-{name}", f"00000000:{bus:02X}:00.0", f"nvidia{gpu}"))
    return tuple(found)


def describe(spec: JobSpec, *, run: str, seed: int) -> RunInfo:
    """What does not change while this run lasts."""
    hosts = hostnames(spec.cluster.nodes)
    gpu, training = spec.cluster.gpu, spec.training
    shard = spec.ranks if training.strategy == "fsdp" or training.sharded_optimizer else spec.model_ranks
    # Weights and gradients at the training precision, fp32 master and two moments; activations take half of the rest.
    state = spec.model.parameters * (4.0 + 12.0) / shard / 2**20
    room = gpu.framebuffer_mib - gpu.framebuffer_reserved_mib
    used = int(min(room * 0.98, state + 0.5 * max(0.0, room - state)))
    return RunInfo(
        run=run,
        preset=spec.preset,
        seed=seed,
        model=spec.model.name,
        precision=training.precision,
        strategy=spec.strategy_label,
        flops_convention=spec.flops_label,
        gpu_model=gpu.product,
        driver_version=DRIVER_VERSION,
        ranks=spec.ranks,
        nodes=spec.cluster.nodes,
        gpus_per_node=spec.cluster.gpus_per_node,
        hostnames=hosts,
        nic_devices=tuple(f"mlx5_{i}" for i in range(spec.cluster.nics_per_node)) if spec.overlaps_nodes else (),
        gpus=_gpus(hosts, spec.cluster.gpus_per_node),
        flops_per_token=spec.flops_per_token,
        hardware_flops_per_token=spec.hardware_flops_per_token,
        peak_flops_per_second=spec.peak_flops_per_rank * spec.ranks,
        tokens_per_step=spec.tokens_per_step,
        samples_per_step=spec.samples_per_step,
        dataloader_capacity_batches=spec.loader.capacity_batches,
        framebuffer_total_mib=gpu.framebuffer_mib,
        framebuffer_used_mib=used,
        framebuffer_reserved_mib=gpu.framebuffer_reserved_mib,
        memory_clock_mhz=gpu.memory_clock_mhz,
        clipped=training.clip_norm is not None,
        warnings=spec.notes,
    )
