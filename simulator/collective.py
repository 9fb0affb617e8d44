"""How long an all-reduce takes on an otherwise idle cluster.

`t = a + S/B + c·√S` for S bytes, fitted to published nccl-tests tables (NVIDIA, AWS, Oracle and stas00's) and to the
8-GPU-node H100 chart of NVIDIA's GTC 2024 talk S62129. Seconds and bytes throughout.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from simulator.job import Cluster
from simulator.observation import Floats

_MICRO = 1e-6
_REFERENCE_NODE_BYTES_PER_SECOND = 8 * 50e9
"""The multi-node fits were measured on nodes with 8 NICs of 400 Gb/s; other fabrics scale by their rate."""


@dataclass(frozen=True, slots=True)
class AllReduceFit:
    """Coefficients of `t = a + S/B + c·√S`."""

    a_seconds: float
    bytes_per_second: float
    c_seconds_per_root_byte: float

    def seconds(self, size_bytes: Floats) -> Floats:
        """Time of an all-reduce of each size; same shape."""
        return self.a_seconds + size_bytes / self.bytes_per_second + self.c_seconds_per_root_byte * np.sqrt(size_bytes)


def all_reduce_fit(cluster: Cluster) -> AllReduceFit:
    """The fit for an H100 cluster of this shape. A single rank needs no collective: all coefficients are 0 then."""
    ranks, nodes = cluster.ranks, cluster.nodes
    if ranks == 1:
        return AllReduceFit(0.0, math.inf, 0.0)
    ring = 2.0 * (ranks - 1) / ranks
    if nodes == 1 and cluster.gpus_per_node >= 8:
        return AllReduceFit(16.1 * _MICRO, 286.9e9, 0.0108 * _MICRO)
    if nodes == 1:
        return AllReduceFit(16.1 * _MICRO, 363e9 / ring, 0.0108 * _MICRO)
    rate = cluster.nics_per_node * cluster.nic_bytes_per_second / _REFERENCE_NODE_BYTES_PER_SECOND
    if nodes == 2:
        return AllReduceFit(92.0 * _MICRO, 285.3e9 * rate, 0.0312 * _MICRO)
    log_nodes = math.log2(nodes)
    return AllReduceFit(
        (-23.7 + 62.4 * log_nodes) * _MICRO,
        408.8e9 * rate / ring,
        (0.0136 + 0.0029 * log_nodes) * _MICRO,
    )


def bus_bytes(size_bytes: float, ranks: int) -> float:
    """Bytes that an all-reduce of `size_bytes` moves on the bus per rank: what nccl-tests divides by time for busbw."""
    return size_bytes * 2.0 * (ranks - 1) / ranks
