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
    "DCGM_FI_DEV_XID_ERRORS": lambda tick: tick.counters.xid.astype(np.float64),
    "DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS": lambda tick: _rows(tick),
    "DCGM_FI_DEV_ROW_REMAP_FAILURE": lambda tick: _zeros(tick),
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


def series_of(ticks: Sequence[Tick]) -> Series:
    """The series that scrapes at exactly these ticks leave behind; all of one run, oldest first, at least one."""
    if not ticks:
        raise ValueError("ticks: at least one is needed")
    info = ticks[-1].info
    if any(tick.info.run != info.run for tick in ticks):
        raise ValueError("ticks: all of them must be of one run")

    answered = np.array([_answered(tick) for tick in ticks])
    of_rank = answered[:, [gpu.node for gpu in info.gpus]]
    of_link = np.repeat(answered, len(info.nic_devices), axis=1)
    present = np.array([~np.isnan(tick.monitored().devices.gpu_util_percent) for tick in ticks])

    def stack(table: dict[str, Callable[[Tick], Floats]], there: NDArray[np.bool_]) -> dict[str, Floats]:
        found = {name: np.array([read(tick) for tick in ticks], dtype=np.float64) for name, read in table.items()}
        return {name: np.where(there, values, np.nan) for name, values in found.items()}

    phases = np.array([tick.counters.phase_seconds for tick in ticks])
    # By the run's own seconds: its clock may have been set in between.
    times = np.array([ticks[-1].timestamp - (ticks[-1].seconds - tick.seconds) for tick in ticks])
    return Series(
        run=info.run,
        gpu_model=info.gpu_model,
        members=tuple(Member(str(gpu.rank), gpu.node, str(gpu.gpu), gpu.uuid) for gpu in info.gpus),
        nodes=info.hostnames,
        links=tuple(Link(node, device) for node in range(info.nodes) for device in info.nic_devices),
        times=times,
        phase_seconds=np.where(of_rank[:, None, :], phases, np.nan),
        gpu=stack({name: _seen(name, read) for name, read in _GPU.items()}, of_rank & present),
        rank=stack(_RANK, of_rank),
        node=stack(_NODE, answered),
        link=stack(_LINK, of_link),
        single={name: np.array([read(tick) for tick in ticks], dtype=np.float64) for name, read in _SINGLE.items()},
        buckets=np.array([tick.counters.step_seconds_buckets for tick in ticks], dtype=np.float64),
        up=answered.astype(np.float64),
        run_up=np.ones(len(ticks)),
        gpu_up=np.where(of_rank, present.astype(np.float64), np.nan),
        success=np.where(answered, times[:, None], np.nan),
    )


def _zeros(tick: Tick) -> Floats:
    return np.zeros(tick.info.ranks)


def _answered(tick: Tick) -> NDArray[np.bool_]:
    """(K,) whether the scrape of each node succeeds."""
    seen = tick.monitoring
    return np.ones(tick.info.nodes, dtype=bool) if seen is None else seen.reachable


def _seen(name: str, read: Callable[[Tick], Floats]) -> Callable[[Tick], Floats]:
    """The reading as the monitoring shows it: profiling fields are 0 where somebody else holds the counters."""

    def reading(tick: Tick) -> Floats:
        values = read(tick.monitored())
        if tick.monitoring is None or not name.startswith("DCGM_FI_PROF_"):
            return values
        return np.where(tick.monitoring.profiled, values, 0.0)

    return reading


def _rows(tick: Tick) -> Floats:
    return tick.counters.uncorrectable_remapped_rows.astype(np.float64)


def _exposed(name: str, si: Floats) -> Floats:
    return si * BY_NAME[name].scale
