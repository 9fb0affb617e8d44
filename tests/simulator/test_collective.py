"""All-reduce times against bus bandwidths published by users of nccl-tests."""

from __future__ import annotations

import numpy as np
import pytest

from simulator.collective import all_reduce_fit, bus_bytes
from simulator.gpus import H100_SXM
from simulator.job import Cluster


def bus_bandwidth(nodes: int, gpus: int, size: float) -> float:
    cluster = Cluster(nodes=nodes, gpus_per_node=gpus, gpu=H100_SXM)
    time = float(all_reduce_fit(cluster).seconds(np.array(size)))
    return bus_bytes(size, cluster.ranks) / time / 1e9


@pytest.mark.parametrize(("nodes", "low", "high"), [(1, 440, 510), (2, 442, 511), (4, 360, 400), (64, 350, 400)])
def test_large_messages_reach_the_published_bus_bandwidth(nodes: int, low: float, high: float) -> None:
    assert low <= bus_bandwidth(nodes, 8, 16 * 2**30) <= high


def test_small_messages_are_latency_bound_and_more_so_on_more_nodes() -> None:
    times = [
        float(all_reduce_fit(Cluster(nodes=n, gpus_per_node=8, gpu=H100_SXM)).seconds(np.array(1024.0)))
        for n in (1, 4, 16, 64)
    ]
    assert times == sorted(times)
    assert times[0] < 30e-6


def test_slower_nics_scale_the_bandwidth_of_several_nodes_only() -> None:
    def seconds(nodes: int, rate: float) -> float:
        cluster = Cluster(nodes=nodes, gpus_per_node=8, gpu=H100_SXM, nic_bytes_per_second=rate)
        return float(all_reduce_fit(cluster).seconds(np.array(8e9)))

    assert seconds(4, 25e9) > 1.7 * seconds(4, 50e9)
    assert seconds(1, 25e9) == seconds(1, 50e9)


def test_a_single_gpu_needs_no_collective() -> None:
    alone = Cluster(nodes=1, gpus_per_node=1, gpu=H100_SXM)
    assert all_reduce_fit(alone).seconds(np.array([1e9])).tolist() == [0.0]
