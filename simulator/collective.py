"""How long an all-reduce takes on an otherwise idle cluster.

`t = a + S/B + c·√S` for S bytes, fitted to published nccl-tests tables (NVIDIA, AWS, Oracle and stas00's) and to
the 8-GPU-node H100 chart of NVIDIA's GTC 2024 talk S62129. Seconds and bytes throughout. Other GPUs scale the rate
inside a node by their NVLink, other fabrics the rate between nodes by their NICs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from simulator.gpus import H100_SXM, GpuModel
from simulator.job import Cluster, JobSpec, Nccl
from simulator.observation import Floats

_MICRO = 1e-6
_FULL_NODE = 8
_REFERENCE_NICS_BYTES_PER_SECOND = 8 * 50e9
"""The multi-node H100 fits were measured on nodes with 8 NICs of 400 Gb/s."""
_A100_NICS_BYTES_PER_SECOND = 4 * 12.5e9
"""The two-node A100 fit was measured with 4 NICs of 100 Gb/s."""
_RING_HOP = 2.5 * _MICRO
_TREE_NODE_HOP, _TREE_GPU_HOP = 31.2 * _MICRO, 1.7 * _MICRO
_DEFAULT_BUFFER_BYTES = 4 * 2**20
_BUFFER_SLICES = 8
_SLICE_OVERHEAD_BYTES = 31 * 2**10
"""What starting one slice costs, as bytes on the wire: 512 KiB buffers then take 1.4 × as long as 4 MiB ones."""


@dataclass(frozen=True, slots=True)
class AllReduceFit:
    """Coefficients of `t = a + S/B + c·√S`."""

    a_seconds: float
    bytes_per_second: float
    c_seconds_per_root_byte: float

    def seconds(self, size_bytes: Floats) -> Floats:
        """Time of an all-reduce of each size; same shape."""
        transfer = size_bytes / self.bytes_per_second
        return self.a_seconds + transfer + self.c_seconds_per_root_byte * np.sqrt(size_bytes)


NO_COLLECTIVE = AllReduceFit(0.0, math.inf, 0.0)


def all_reduce_fit(cluster: Cluster, nccl: Nccl | None = None, *, link_slowdown: float = 1.0) -> AllReduceFit:
    """The fit for a cluster of this shape. A single rank needs no collective: all coefficients are 0 then.

    `link_slowdown` is a factor on what crosses the network, by the slowest link on the way.
    """
    if cluster.ranks == 1:
        return NO_COLLECTIVE
    if cluster.nodes == 1:
        return _inside_a_node(cluster.gpu, cluster.gpus_per_node)
    return _with_settings(_between_nodes(cluster), cluster, Nccl() if nccl is None else nccl, link_slowdown)


def bus_bytes(size_bytes: float, ranks: int) -> float:
    """Bytes that an all-reduce of `size_bytes` moves on the bus per rank: what nccl-tests divides by time for busbw."""
    return size_bytes * 2.0 * (ranks - 1) / ranks


def data_parallel_group(spec: JobSpec) -> tuple[Cluster, float]:
    """The cluster that one gradient all-reduce sees, and how many such all-reduces share its links at once.

    With tensor parallelism the ranks of a node belong to as many groups as it is wide, and share the node's NICs.
    """
    tensor, per_node = spec.training.tensor_parallel, spec.cluster.gpus_per_node
    nodes = max(1, math.ceil(spec.replicas * tensor / per_node))
    if nodes == 1:
        return replace(spec.cluster, nodes=1, gpus_per_node=spec.replicas), float(tensor)
    return replace(spec.cluster, nodes=nodes), float(tensor)


def _inside_a_node(gpu: GpuModel, gpus: int) -> AllReduceFit:
    """NVLink: measured on 8 H100 and 8 A100, scaled by the links of other GPUs and by the ring of fewer."""
    rate = gpu.nvlink_bytes_per_second / H100_SXM.nvlink_bytes_per_second
    if gpu.key.startswith("a100"):
        fit = AllReduceFit(42.8 * _MICRO, 142.7e9, 0.0258 * _MICRO)
    else:
        fit = AllReduceFit(16.1 * _MICRO, 286.9e9 * rate, 0.0108 * _MICRO / math.sqrt(rate))
    if gpus >= _FULL_NODE:
        return fit
    ring = 2.0 * (gpus - 1) / gpus
    return replace(fit, bytes_per_second=363e9 * rate / ring)


def _between_nodes(cluster: Cluster) -> AllReduceFit:
    nodes, ranks = cluster.nodes, cluster.ranks
    nics = cluster.nics_per_node * cluster.nic_bytes_per_second
    rate = nics / _REFERENCE_NICS_BYTES_PER_SECOND
    if nodes == 2 and cluster.gpu.key.startswith("a100"):
        rate = nics / _A100_NICS_BYTES_PER_SECOND
        return AllReduceFit(176.0 * _MICRO, 53.2e9 * rate, 0.14 * _MICRO / math.sqrt(rate))
    if nodes == 2:
        return AllReduceFit(92.0 * _MICRO, 285.3e9 * rate, 0.0312 * _MICRO)
    log_nodes = math.log2(nodes)
    return AllReduceFit(
        (-28.0 + 66.0 * log_nodes) * _MICRO,
        410.0e9 * rate * ranks / (2.0 * (ranks - 1)),
        (0.0133 + 0.0031 * log_nodes) * _MICRO,
    )


def _with_settings(fit: AllReduceFit, cluster: Cluster, nccl: Nccl, link_slowdown: float) -> AllReduceFit:
    """What NCCL's settings, and the links, make of the fit."""
    latency = {
        "auto": fit.a_seconds,
        "ring": 2.0 * (cluster.ranks - 1) * _RING_HOP,
        "tree": 2.0 * math.log2(cluster.nodes) * _TREE_NODE_HOP + 2.0 * (cluster.gpus_per_node - 1) * _TREE_GPU_HOP,
    }[nccl.algorithm]
    # NCCL's own choice is the better one, so that nothing is gained by forcing.
    latency = fit.a_seconds + nccl.forced_share * max(0.0, latency - fit.a_seconds)
    slowdown = transfer_slowdown(nccl) * link_slowdown
    return AllReduceFit(latency, fit.bytes_per_second / slowdown, fit.c_seconds_per_root_byte * math.sqrt(slowdown))


def transfer_slowdown(nccl: Nccl) -> float:
    """Factor that these settings put on the time of what crosses the network."""
    return buffer_slowdown(nccl.buffer_bytes) * (1.0 if nccl.gpudirect else nccl.staging_slowdown)


def buffer_slowdown(buffer_bytes: float) -> float:
    """Factor on the transfer time of a buffer size against the default one: small slices starve a fast link."""

    def cost(size: float) -> float:
        return 1.0 + _SLICE_OVERHEAD_BYTES * _BUFFER_SLICES / size

    return cost(buffer_bytes) / cost(_DEFAULT_BUFFER_BYTES)
