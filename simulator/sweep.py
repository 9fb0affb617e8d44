"""The isolated all-reduce sweep, in the columns of nccl-tests.

It sees an idle cluster. What the same all-reduce does inside a step is another matter: `simulator.in_job`.
"""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import TypedDict

import numpy as np

from simulator.collective import all_reduce_fit, bus_bytes
from simulator.in_job import InJob, in_job
from simulator.job import Cluster, JobSpec, Nccl

__all__ = ["LARGEST_BYTES", "MAX_BYTES", "MIN_BYTES", "InJob", "SweepRow", "in_job", "parse_size", "sweep"]

MIN_BYTES, MAX_BYTES = 8, 16 * 2**30
"""Ends of the sweep that a fabric is accepted with."""
LARGEST_BYTES = 2**50
_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
_SIZE = re.compile(r"(\d+(?:\.\d+)?)([KMGT]?)", re.ASCII | re.IGNORECASE)


class SweepRow(TypedDict):
    """One message size in the columns of nccl-tests; GB/s are 1e9 bytes per second."""

    size_bytes: int
    time_us: float
    algbw_gb_per_s: float
    busbw_gb_per_s: float


def parse_size(text: str, *, key: str = "size") -> int:
    """Bytes of `8`, `64K`, `1.5G`: binary units K, M, G, T as nccl-tests reads them. ValueError names `key`."""
    found = _SIZE.fullmatch(text.strip())
    size = float(found[1]) * _UNITS[found[2].upper()] if found else 0.0
    if not 1.0 <= size <= LARGEST_BYTES or size != int(size):
        raise ValueError(f"{key}: {text!r} is not a number of bytes such as 8, 64K, 512M or 16G (at most 1024T)")
    return int(size)


def sweep(
    spec: JobSpec,
    *,
    nodes: int | None = None,
    min_bytes: int = MIN_BYTES,
    max_bytes: int = MAX_BYTES,
    collective_factor: float = 1.0,
    nccl: Nccl | None = None,
    link_slowdown: float = 1.0,
) -> list[SweepRow]:
    """Time of an all-reduce of each size, doubling from `min_bytes`, over all GPUs of the job's cluster or of `nodes`.

    `collective_factor` is what a fault of the fabric puts on every collective, `link_slowdown` on what crosses the
    network; `nccl` are the settings in the place of the job's. ValueError names the key that is wrong.
    """
    cluster = _cluster(spec, nodes)
    for key, value, low, high in (
        ("min_bytes", min_bytes, 1, LARGEST_BYTES),
        ("max_bytes", max_bytes, min_bytes, LARGEST_BYTES),
    ):
        if type(value) is not int or not low <= value <= high:
            raise ValueError(f"{key}: {value!r} is not a whole number of bytes from {low:,} to {high:,}")
    for key, factor in (("collective_factor", collective_factor), ("link_slowdown", link_slowdown)):
        if not 0.0 < factor < math.inf:
            raise ValueError(f"{key}: {factor!r} is not a finite number above 0")
    sizes = [min_bytes << doubling for doubling in range((max_bytes // min_bytes).bit_length())]
    fit = all_reduce_fit(cluster, spec.nccl if nccl is None else nccl, link_slowdown=link_slowdown)
    seconds = fit.seconds(np.array(sizes, dtype=np.float64)) * collective_factor
    return [
        SweepRow(
            size_bytes=size,
            time_us=time * 1e6,
            algbw_gb_per_s=size / time / 1e9,
            busbw_gb_per_s=bus_bytes(size, cluster.ranks) / time / 1e9,
        )
        for size, time in zip(sizes, seconds.tolist(), strict=True)
    ]


def _cluster(spec: JobSpec, nodes: int | None) -> Cluster:
    most = spec.cluster.nodes
    if nodes is not None and (type(nodes) is not int or not 1 <= nodes <= most):
        raise ValueError(f"nodes: {nodes!r} is not a whole number from 1 to {most:,}, the nodes of {spec.preset}")
    cluster = spec.cluster if nodes is None else replace(spec.cluster, nodes=nodes)
    if cluster.ranks == 1:
        raise ValueError(f"preset: one GPU of {spec.preset} has nobody to reduce with: it takes two or more")
    return cluster
