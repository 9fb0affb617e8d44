"""Collectives beside compute: when the last one ends, how much of it is exposed, and what it costs the compute.

Gradients leave in buckets. Bucket k is ready on rank r at `s_r + φ_k·d_r` (s_r start, d_r length of backward),
starts when every rank has it ready and the bucket before is done, and takes t_k. The end of the chain has a closed
form, `E = max_r(s_r + h(d_r))` with `h(d) = max_k(φ_k·d + Σ_{j≥k} t_j)` convex and piecewise linear, so a step
costs O(ranks). FSDP gathers and scatters per layer have the same shape with two pieces.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from simulator.collective import all_reduce_fit, bus_bytes, data_parallel_group
from simulator.job import JobSpec
from simulator.observation import Floats


@dataclass(frozen=True, slots=True)
class Chain:
    """The collectives of one step. Shapes: B = buckets, L = pieces of h."""

    ready: Floats
    """(B,) φ: share of the compute window done when bucket k is ready."""
    seconds: Floats
    """(B,) t: time of bucket k on an idle fabric."""
    slopes: Floats
    """(L,) slopes of h, rising."""
    intercepts: Floats
    """(L,) intercepts of h in seconds."""
    breaks: Floats
    """(L - 1,) window lengths at which the next piece takes over."""
    contention: float
    """σ: share of the SMs that the collective takes from compute while both run; 0 without overlap."""
    hidden_seconds: float
    """Most collective time that can run beside compute."""
    first_ready: float
    """φ of the first bucket."""
    bus_bytes: float
    """Bytes moved on the bus per rank and step."""
    leaving_bytes: float
    """Those of them that leave the node."""
    bucketed: bool
    """Whether buckets leave one by one during the window (DDP with overlap)."""

    @property
    def total_seconds(self) -> float:
        """Sum over all collectives of the step."""
        return float(self.seconds.sum())

    def dilate(self, window: Floats, scale: Floats | float = 1.0) -> Floats:
        """Length of a compute window once collectives beside it have taken their SMs; same shape.

        `scale` is a factor on the time of every collective, one number or (steps, 1).
        """
        if self.contention == 0.0:
            return window
        whole = window / (1.0 - self.contention * (1.0 - self.first_ready))
        dilated: Floats = np.minimum(window + self.contention * self.hidden_seconds * scale, whole)
        return dilated

    def end_after_start(self, window: Floats, scale: Floats | float = 1.0) -> Floats:
        """h: end of the last collective after the start of a (dilated) window that only this rank has; same shape."""
        piece = np.searchsorted(self.breaks, window / scale)
        end: Floats = window * self.slopes[piece] + self.intercepts[piece] * scale
        return end


def chain_for(spec: JobSpec, *, link_slowdown: float = 1.0) -> Chain:
    """The collectives of one step of this job; `link_slowdown` as in `all_reduce_fit`."""
    training = spec.training
    group, at_once = data_parallel_group(spec)
    fit = all_reduce_fit(group, spec.nccl, link_slowdown=link_slowdown)
    if group.ranks == 1:
        nothing = np.zeros(1)
        return Chain(np.ones(1), nothing, np.ones(1), nothing, np.empty(0), 0.0, 0.0, 1.0, 0.0, 0.0, False)
    gradient_bytes = spec.model.parameters * training.gradient_bytes_per_parameter / spec.model_ranks
    bucketed = training.strategy != "fsdp"
    halves = 2 if training.frozen_weights else 3
    if bucketed:
        sizes = bucket_sizes(gradient_bytes, training.bucket_bytes, training.first_bucket_bytes)
        seconds = fit.seconds(sizes * at_once)
        ready = np.cumsum(sizes) / sizes.sum()
        ready[-1] = 1.0
    else:
        # Two all-gathers and, unless weights are frozen, a reduce-scatter per layer and micro-batch, each half an
        # all-reduce of the layer.
        layers = spec.model.layers // training.pipeline_parallel
        seconds = np.full(
            halves * layers * training.gradient_accumulation,
            0.5 * float(fit.seconds(np.array(gradient_bytes * at_once / layers))),
        )
        ready = np.linspace(0.0, 1.0, len(seconds))
    moved = bus_bytes(gradient_bytes, spec.replicas) * (
        1.0 if bucketed else 0.5 * halves * training.gradient_accumulation
    )
    # A ring leaves the node once per visit, so the more of its ranks a node holds, the less leaves.
    leaving = moved * training.tensor_parallel / spec.cluster.gpus_per_node if group.nodes > 1 else 0.0
    if not training.overlap:
        total = np.array([seconds.sum()])
        return Chain(ready, seconds, np.ones(1), total, np.empty(0), 0.0, 0.0, 1.0, moved, leaving, False)
    contention = spec.cluster.gpu.nccl_channels / spec.cluster.gpu.sm_count
    if bucketed:
        slopes, intercepts, breaks = upper_envelope(ready, np.cumsum(seconds[::-1])[::-1])
        hidden = float(seconds[:-1].sum())
    else:
        hidden = float(seconds[1:-1].sum())
        slopes, intercepts = np.array([0.0, 1.0]), np.array([seconds.sum(), seconds[0] + seconds[-1]])
        breaks = np.array([hidden])
    first = float(ready[0])
    return Chain(ready, seconds, slopes, intercepts, breaks, contention, hidden, first, moved, leaving, bucketed)


def bucket_sizes(total_bytes: float, bucket_bytes: float, first_bytes: float) -> Floats:
    """Sizes of DDP's buckets in the order in which they leave: a small first one, full ones, a remainder."""
    first = min(first_bytes, total_bytes)
    full, rest = divmod(total_bytes - first, bucket_bytes)
    sizes = [first, *([bucket_bytes] * int(full))]
    if rest > 0.0:
        sizes.append(rest)
    return np.array(sizes)


def upper_envelope(slopes: Floats, intercepts: Floats) -> tuple[Floats, Floats, Floats]:
    """Pieces of `max_k(slope_k·x + intercept_k)`, x ≥ 0, slopes strictly rising: slopes, intercepts, breaks."""
    hull: list[tuple[float, float, float]] = []
    for slope, intercept in zip(slopes.tolist(), intercepts.tolist(), strict=True):
        start = 0.0
        while hull:
            top_slope, top_intercept, top_start = hull[-1]
            crossing = (top_intercept - intercept) / (slope - top_slope)
            if crossing > top_start:
                start = crossing
                break
            hull.pop()
        hull.append((slope, intercept, start))
    kept = np.array(hull)
    return kept[:, 0], kept[:, 1], kept[1:, 2]


def kernel_seconds(
    chain: Chain, start: Floats, window: Floats, arrival: Floats, end: Floats, scale: Floats | float = 1.0
) -> Floats:
    """Time inside collective kernels per step and rank, overlapped part and spinning included.

    `start`, `window` (dilated), `arrival` and the answer have shape (steps, ranks). A rank enters the kernel of
    bucket k when it has the bucket ready and the stream is free, and leaves with everyone: `Σ_k (E_k - max(R_rk,
    E_{k-1}))`. Without buckets in flight transfers and the wait for the last arrival add up, within the time from the
    rank's own start to `end`, shape (steps,). `scale` is a factor on every transfer, one number or (steps, 1).
    """
    if not chain.bucketed:
        spinning = arrival.max(axis=1, keepdims=True) - arrival
        most: Floats = np.minimum(chain.total_seconds * scale + spinning, end[:, None] - start)
        return most
    ready = start[:, :, None] + window[:, :, None] * chain.ready
    everyone = ready.max(axis=1)
    done_before = np.concatenate(([0.0], np.cumsum(chain.seconds)[:-1])) * scale
    ends = np.maximum.accumulate(everyone - done_before, axis=1) + (done_before + chain.seconds * scale)
    previous = np.concatenate((np.zeros((len(ends), 1)), ends[:, :-1]), axis=1)
    inside: Floats = (ends[:, None, :] - np.maximum(ready, previous[:, None, :])).sum(axis=2)
    return inside
