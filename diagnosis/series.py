"""What was seen of one run: its public series at the times of some scrapes, and nothing else.

Both feeders end here, the simulator's ticks (`diagnosis.ticks`) and the answers of a Prometheus
(`diagnosis.answers`), so that a verdict cannot tell where its numbers come from. Shapes: N scrapes, R ranks, K nodes,
P = len(PHASES), B = len(STEP_SECONDS_BUCKETS) + 1. NaN is a sample that is not there; a whole array that nobody
exports is NaN throughout. Units are those of the exposition (METRICS.md).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from simulator.observation import Floats

GPU_FAMILIES = (
    "DCGM_FI_DEV_SM_CLOCK",
    "DCGM_FI_DEV_GPU_TEMP",
    "DCGM_FI_DEV_POWER_USAGE",
    "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION",
    "DCGM_FI_DEV_GPU_UTIL",
    "DCGM_FI_DEV_XID_ERRORS",
    "DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS",
    "DCGM_FI_DEV_CORRECTABLE_REMAPPED_ROWS",
    "DCGM_FI_DEV_ROW_REMAP_FAILURE",
    "DCGM_FI_DEV_POWER_VIOLATION",
    "DCGM_FI_DEV_THERMAL_VIOLATION",
    "DCGM_FI_DEV_CLOCK_THROTTLE_REASONS",
    "DCGM_FI_PROF_GR_ENGINE_ACTIVE",
    "DCGM_FI_PROF_SM_ACTIVE",
    "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE",
    "DCGM_FI_PROF_DRAM_ACTIVE",
    "DCGM_FI_PROF_PCIE_TX_BYTES",
)
"""Readings of the boards that a verdict looks at; each is (N, R)."""

COMPARED_FAMILIES = (
    "DCGM_FI_DEV_SM_CLOCK",
    "DCGM_FI_DEV_GPU_TEMP",
    "DCGM_FI_DEV_POWER_USAGE",
    "DCGM_FI_DEV_XID_ERRORS",
    "DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS",
    "DCGM_FI_DEV_CORRECTABLE_REMAPPED_ROWS",
)
"""Those of them whose earlier values matter."""

RANK_FAMILIES = (
    "training_collective_seconds_total",
    "training_collective_bytes_total",
    "training_dataloader_queue_batches",
    "training_dataloader_capacity_batches",
)
"""Per-rank families besides the phases; each is (N, R)."""

NODE_FAMILIES = ("training_storage_read_bytes_total",)
"""Per-node families; each is (N, K)."""

LINK_FAMILIES = (
    "training_network_transmit_bytes_total",
    "training_network_pause_frames_total",
    "training_network_retransmits_total",
)
"""Families of the network interfaces; each is (N, L)."""

RUN_FAMILIES = (
    "training_steps_total",
    "training_model_flops_total",
    "training_peak_flops_per_second",
    "training_loss",
    "training_grad_norm",
    "training_learning_rate",
    "training_loss_scale",
    "training_nonfinite_steps_total",
    "training_skipped_steps_total",
    "training_checkpoints_total",
    "training_grad_norm_spikes_total",
    "training_last_step_timestamp_seconds",
    "training_step_seconds_sum",
    "training_step_seconds_count",
)
"""Samples of which a run has one; each is (N,)."""


@dataclass(frozen=True, slots=True)
class Member:
    """One rank and where it runs, as `training_rank_info` says."""

    rank: str
    node: int
    """Index into `Series.nodes`."""
    gpu: str
    uuid: str


@dataclass(frozen=True, slots=True)
class Link:
    """One network interface."""

    node: int
    """Index into `Series.nodes`."""
    device: str


@dataclass(frozen=True, slots=True)
class Series:
    """The samples. Every array's first axis is time, oldest first."""

    run: str
    gpu_model: str
    """NVML product name; empty when nobody said."""
    members: tuple[Member, ...]
    nodes: tuple[str, ...]
    """Hostnames."""
    links: tuple[Link, ...]
    times: Floats
    """(N,) Unix seconds, rising."""
    phase_seconds: Floats
    """(N, P, R) counters."""
    gpu: Mapping[str, Floats]
    rank: Mapping[str, Floats]
    node: Mapping[str, Floats]
    link: Mapping[str, Floats]
    single: Mapping[str, Floats]
    buckets: Floats
    """(N, B) cumulative counts of the step-time histogram."""
    up: Floats
    """(N, K) 1 where the scrape of a node's target succeeded, 0 where it failed, NaN where nobody says."""
    run_up: Floats
    """(N,) the same of the target with the run's own series."""
    gpu_up: Floats
    """(N, R) 1 where the exporter could read the board."""

    @property
    def ranks(self) -> int:
        """R."""
        return len(self.members)

    @property
    def node_of(self) -> NDArray[np.int64]:
        """(R,) index of each rank's node."""
        return np.array([member.node for member in self.members], dtype=np.int64)

    def part(self, begin_seconds: float, end_seconds: float) -> Series:
        """The scrapes from `begin_seconds` to `end_seconds`, both included."""
        return self.at((self.times >= begin_seconds - _SAME) & (self.times <= end_seconds + _SAME))

    def at(self, chosen: NDArray[np.bool_] | NDArray[np.int64]) -> Series:
        """Only these scrapes, given as a mask or as rising indices."""

        def cut(table: Mapping[str, Floats]) -> dict[str, Floats]:
            return {name: values[chosen] for name, values in table.items()}

        return replace(
            self,
            times=self.times[chosen],
            phase_seconds=self.phase_seconds[chosen],
            gpu=cut(self.gpu),
            rank=cut(self.rank),
            node=cut(self.node),
            link=cut(self.link),
            single=cut(self.single),
            buckets=self.buckets[chosen],
            up=self.up[chosen],
            run_up=self.run_up[chosen],
            gpu_up=self.gpu_up[chosen],
        )


_SAME = 1e-3
"""Scrapes within a millisecond of a border are on it."""
