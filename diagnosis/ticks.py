"""Feeder: a simulated run, seen only at every so many seconds, as a scraping Prometheus sees it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from diagnosis.series import Link, Member, Series
from exporter.catalogue import BY_NAME
from simulator.observation import Floats, Tick

_GPU: dict[str, Callable[[Tick], Floats]] = {
    "DCGM_FI_DEV_SM_CLOCK": lambda tick: tick.devices.sm_clock_mhz,
    "DCGM_FI_DEV_GPU_TEMP": lambda tick: tick.devices.temperature_celsius,
    "DCGM_FI_DEV_POWER_USAGE": lambda tick: tick.devices.power_watts,
    "DCGM_FI_DEV_GPU_UTIL": lambda tick: tick.devices.gpu_util_percent,
    "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION": lambda tick: _exposed(
        "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", tick.counters.energy_joules
    ),
    "DCGM_FI_DEV_XID_ERRORS": lambda tick: tick.counters.xid.astype(np.float64),
    "DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS": lambda tick: tick.counters.uncorrectable_remapped_rows.astype(
        np.float64
    ),
    "DCGM_FI_DEV_CORRECTABLE_REMAPPED_ROWS": lambda tick: tick.counters.correctable_remapped_rows.astype(np.float64),
    "DCGM_FI_DEV_ROW_REMAP_FAILURE": lambda tick: np.zeros(tick.info.ranks),
    "DCGM_FI_DEV_POWER_VIOLATION": lambda tick: _exposed(
        "DCGM_FI_DEV_POWER_VIOLATION", tick.counters.power_violation_seconds
    ),
    "DCGM_FI_DEV_THERMAL_VIOLATION": lambda tick: _exposed(
        "DCGM_FI_DEV_THERMAL_VIOLATION", tick.counters.thermal_violation_seconds
    ),
    "DCGM_FI_DEV_CLOCK_THROTTLE_REASONS": lambda tick: tick.devices.throttle_reasons.astype(np.float64),
    "DCGM_FI_PROF_GR_ENGINE_ACTIVE": lambda tick: tick.devices.gr_engine_active,
    "DCGM_FI_PROF_SM_ACTIVE": lambda tick: tick.devices.sm_active,
    "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE": lambda tick: tick.devices.tensor_active,
    "DCGM_FI_PROF_DRAM_ACTIVE": lambda tick: tick.devices.dram_active,
    "DCGM_FI_PROF_PCIE_TX_BYTES": lambda tick: tick.devices.pcie_tx_bytes_per_second,
}

_RANK: dict[str, Callable[[Tick], Floats]] = {
    "training_collective_seconds_total": lambda tick: tick.counters.collective_seconds,
    "training_collective_bytes_total": lambda tick: tick.counters.collective_bytes,
    "training_dataloader_queue_batches": lambda tick: tick.queue_batches,
    "training_dataloader_capacity_batches": lambda tick: np.full(
        tick.info.ranks, float(tick.info.dataloader_capacity_batches)
    ),
}

_NODE: dict[str, Callable[[Tick], Floats]] = {
    "training_storage_read_bytes_total": lambda tick: tick.counters.storage_read_bytes,
}

_LINK: dict[str, Callable[[Tick], Floats]] = {
    "training_network_transmit_bytes_total": lambda tick: tick.counters.network_transmit_bytes.ravel(),
    "training_network_pause_frames_total": lambda tick: tick.counters.network_pause_frames.ravel(),
    "training_network_retransmits_total": lambda tick: tick.counters.network_retransmits.ravel(),
}

_SINGLE: dict[str, Callable[[Tick], float]] = {
    "training_steps_total": lambda tick: tick.counters.steps,
    "training_model_flops_total": lambda tick: tick.counters.model_flops,
    "training_peak_flops_per_second": lambda tick: tick.info.peak_flops_per_second,
    "training_loss": lambda tick: tick.learning.loss,
    "training_grad_norm": lambda tick: tick.learning.grad_norm,
    "training_learning_rate": lambda tick: tick.learning.learning_rate,
    "training_loss_scale": lambda tick: tick.learning.loss_scale,
    "training_nonfinite_steps_total": lambda tick: tick.counters.nonfinite_steps,
    "training_skipped_steps_total": lambda tick: tick.counters.skipped_steps,
    "training_checkpoints_total": lambda tick: tick.counters.checkpoints,
    "training_grad_norm_spikes_total": lambda tick: tick.counters.grad_norm_spikes,
    "training_last_step_timestamp_seconds": lambda tick: tick.last_step_timestamp or float("nan"),
    "training_step_seconds_sum": lambda tick: tick.counters.step_seconds_sum,
    "training_step_seconds_count": lambda tick: int(tick.counters.step_seconds_buckets[-1]),
}


_PROFILING = "DCGM_FI_PROF_"
"""What the names of profiling fields begin with."""


def series_of(ticks: Sequence[Tick]) -> Series:
    """The series that scrapes at exactly these ticks leave behind; all of one run, oldest first, at least one.

    What the monitoring shows of a tick counts, not what is: readings that are missing, old or 0, nodes without answer.
    """
    if not ticks:
        raise ValueError("ticks: at least one is needed")
    info = ticks[-1].info
    if any(tick.info.run != info.run for tick in ticks):
        raise ValueError("ticks: all of them must be of one run")
    seen = [tick.monitored() for tick in ticks]
    reachable = np.array([_reachable(tick) for tick in ticks])
    rank_there = reachable[:, [gpu.node for gpu in info.gpus]]
    links = tuple(Link(node, device) for node in range(info.nodes) for device in info.nic_devices)
    link_there = reachable[:, [link.node for link in links]]

    def stack(table: dict[str, Callable[[Tick], Floats]], there: NDArray[np.bool_]) -> dict[str, Floats]:
        rows = {name: np.array([read(tick) for tick in seen], dtype=np.float64) for name, read in table.items()}
        return {name: np.where(there, values, np.nan) for name, values in rows.items()}

    gpu = {name: _as_exposed(name, values) for name, values in stack(_GPU, rank_there).items()}
    present: NDArray[np.bool_] = np.isfinite(gpu["DCGM_FI_DEV_GPU_UTIL"]) | np.isfinite(gpu["DCGM_FI_DEV_POWER_USAGE"])
    profiled = np.array([_profiled(tick) for tick in ticks])
    gpu = {name: _shown(name, values, present, profiled) for name, values in gpu.items()}
    phases = np.array([tick.counters.phase_seconds for tick in seen])
    return Series(
        run=info.run,
        gpu_model=info.gpu_model,
        members=tuple(Member(str(gpu.rank), gpu.node, str(gpu.gpu), gpu.uuid) for gpu in info.gpus),
        nodes=info.hostnames,
        links=links,
        # By the run's own seconds: its clock may have been set in between.
        times=np.array([ticks[-1].timestamp - (ticks[-1].seconds - tick.seconds) for tick in ticks]),
        phase_seconds=np.where(rank_there[:, None, :], phases, np.nan),
        gpu=gpu,
        rank=stack(_RANK, rank_there),
        node=stack(_NODE, reachable),
        link=stack(_LINK, link_there),
        single={name: np.array([read(tick) for tick in seen], dtype=np.float64) for name, read in _SINGLE.items()},
        buckets=np.array([tick.counters.step_seconds_buckets for tick in seen], dtype=np.float64),
        up=reachable.astype(np.float64),
        run_up=np.ones(len(ticks)),
        gpu_up=np.where(rank_there, present.astype(np.float64), np.nan),
    )


def _reachable(tick: Tick) -> NDArray[np.bool_]:
    return np.ones(tick.info.nodes, dtype=bool) if tick.monitoring is None else tick.monitoring.reachable


def _profiled(tick: Tick) -> NDArray[np.bool_]:
    return np.ones(tick.info.ranks, dtype=bool) if tick.monitoring is None else tick.monitoring.profiled


def _as_exposed(name: str, values: Floats) -> Floats:
    """Whole numbers where the page prints whole numbers."""
    return np.rint(values) if BY_NAME[name].number == "int" else values


def _shown(name: str, values: Floats, present: NDArray[np.bool_], profiled: NDArray[np.bool_]) -> Floats:
    """A board that is gone shows nothing at all; profiling fields that may not be read are 0."""
    if name.startswith(_PROFILING):
        values = np.where(profiled, values, 0.0)
    return np.where(present, values, np.nan)


def _exposed(name: str, si: Floats) -> Floats:
    return si * BY_NAME[name].scale
