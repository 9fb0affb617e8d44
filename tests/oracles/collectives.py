"""All-reduce times against published nccl-tests tables and a published chart."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np

from simulator.collective import all_reduce_fit, bus_bytes
from simulator.gpus import A100_SXM, H100_SXM
from simulator.job import Cluster
from simulator.observation import Floats
from tests.oracles.oracle import Oracle, rows

MIB = 2**20
_CHART = "NVIDIA GTC 2024, S62129, chart of 8-GPU H100 nodes with 8 × 400G; digitised, ± 5 GB/s"
_ONE_NODE = "nccl-tests tables of 8 H100 (NVIDIA/dgxc-benchmarking) and 8 A100 (stas00/ml-engineering)"
_SMALL_BELOW = 32 * MIB
_CHART_ERROR = 5.0
"""GB/s by which the chart can be misread."""

_AWS = "aws-samples/awsome-distributed-training"


@cache
def _chart() -> tuple[Floats, Floats, Floats]:
    """Size, published bus bandwidth, and that of the model in GB/s, for each point of the chart."""
    points = [
        (float(r["size_bytes"]), float(r["busbw_GBps"]), int(r["nodes"])) for r in rows("nccl_busbw_digitised.csv")
    ]
    model = []
    for size, _, nodes in points:
        cluster = Cluster(nodes=nodes, gpus_per_node=8, gpu=H100_SXM)
        time = float(all_reduce_fit(cluster).seconds(np.array(size)))
        model.append(bus_bytes(size, cluster.ranks) / time / 1e9)
    sizes, published, _ = np.array(points).T
    return sizes, published, np.array(model)


def chart_error(quantile: float) -> float:
    """Relative error in percent at messages of 32 MiB and more."""
    sizes, published, model = _chart()
    errors = np.abs(model / published - 1.0)[sizes >= _SMALL_BELOW]
    return float(np.quantile(errors, quantile)) * 100.0


def chart_share_near(below: float) -> float:
    """Percent of the points under a size that are within 10 % or within what the chart can be misread by."""
    sizes, published, model = _chart()
    near = (np.abs(model / published - 1.0) <= 0.10) | (np.abs(model - published) <= _CHART_ERROR)
    return float(near[sizes < below].mean()) * 100.0


@cache
def table_errors(table: str, *, from_bytes: float = 0.0) -> Floats:
    """Relative error of the time at every size of one nccl-tests table, in percent."""
    errors = []
    for row in rows("nccl_allreduce_tables.csv"):
        if row["table_id"] != table or float(row["size_bytes"]) < from_bytes:
            continue
        # The two columns measure the same operation; where both are given their mean is the better measurement.
        times = [float(row[key]) for key in ("time_us_out_of_place", "time_us_in_place") if row[key]]
        gpu = A100_SXM if row["hardware"].startswith("A100") else H100_SXM
        cluster = Cluster(nodes=int(row["nodes"]), gpus_per_node=8, gpu=gpu)
        if "4x100G" in row["fabric"]:
            cluster = replace(cluster, nics_per_node=4, nic_bytes_per_second=12.5e9)
        model = float(all_reduce_fit(cluster).seconds(np.array(float(row["size_bytes"])))) * 1e6
        errors.append(abs(model / (sum(times) / len(times)) - 1.0) * 100.0)
    return np.array(errors)


def one_node_errors(from_bytes: float = 0.0) -> Floats:
    """Both one-node tables together."""
    tables = ("dgxc_8xH100", "stas_8xA100")
    return np.concatenate([table_errors(table, from_bytes=from_bytes) for table in tables])


def largest_two_node_error(table: str) -> float:
    """From 1 MiB on: below, latencies of different fabrics differ by more than one curve can follow."""
    return float(table_errors(table, from_bytes=MIB).max())


ORACLES = (
    Oracle("chart-median", "error of bus bandwidth from 32 MiB, 4 to 256 nodes: median", _CHART,
           lambda: chart_error(0.5), high=5.0, unit="%"),
    Oracle("chart-p90", "the same: nine points in ten", _CHART, lambda: chart_error(0.9), high=10.0, unit="%"),
    Oracle("chart-small", "points below 32 MiB within 10 % or 5 GB/s", _CHART,
           lambda: chart_share_near(_SMALL_BELOW), low=95.0, unit="%", digits=1),
    Oracle("chart-all", "points of any size within 10 % or 5 GB/s", _CHART,
           lambda: chart_share_near(np.inf), low=95.0, unit="%", digits=1),
    Oracle("one-node-median", "error of the time inside a node, 8 B to 16 GiB: median", _ONE_NODE,
           lambda: float(np.median(one_node_errors())), high=4.0, unit="%"),
    Oracle("one-node-largest", "error of the time inside a node from 16 MiB: largest", _ONE_NODE,
           lambda: float(one_node_errors(16 * MIB).max()), high=10.0, unit="%"),
    Oracle("two-nodes-aws", "error of the time on two nodes from 1 MiB: largest",
           f"nccl-tests, 16 H100, 32 × 100G EFA a node ({_AWS})",
           lambda: largest_two_node_error("aws_2xp5_H100"), high=11.0, unit="%"),
    Oracle("two-nodes-oci", "the same on RoCE, 1 to 16 GiB",
           "nccl-tests, 16 H100, RoCE (Oracle Japan, OCI HPC tutorials)",
           lambda: largest_two_node_error("oci_2x8_H100"), high=11.0, unit="%"),
    Oracle("two-nodes-a100", "the same on two nodes of A100, from 1 MiB to 2 GiB",
           f"nccl-tests, 16 A100, 4 × 100G EFA a node ({_AWS})",
           lambda: largest_two_node_error("aws_2xp4de_A100"), high=11.0, unit="%"),
)  # fmt: skip
