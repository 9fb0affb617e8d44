"""What the boards of one tick say: every DCGM reading of every GPU, in exposed units, in one array."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from exporter.catalogue import BY_NAME, DCGM_FAMILIES, Family
from simulator.observation import Floats, Ints, Tick

_Read = Callable[[Tick], Floats | float]

PROFILING = "DCGM_FI_PROF_"
"""What the names of profiling fields begin with."""

_TOLERANCE = 1.01
"""A reading this much beyond its greatest value is rounding, and cut; beyond it is not believed."""

_READ: dict[str, _Read] = {
    "DCGM_FI_DEV_SM_CLOCK": lambda tick: tick.devices.sm_clock_mhz,
    "DCGM_FI_DEV_MEM_CLOCK": lambda tick: tick.info.memory_clock_mhz,
    "DCGM_FI_DEV_MEMORY_TEMP": lambda tick: tick.devices.memory_temperature_celsius,
    "DCGM_FI_DEV_GPU_TEMP": lambda tick: tick.devices.temperature_celsius,
    "DCGM_FI_DEV_POWER_USAGE": lambda tick: tick.devices.power_watts,
    "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION": lambda tick: _exposed(
        "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", tick.counters.energy_joules
    ),
    "DCGM_FI_DEV_PCIE_REPLAY_COUNTER": lambda tick: 0.0,
    "DCGM_FI_DEV_GPU_UTIL": lambda tick: tick.devices.gpu_util_percent,
    "DCGM_FI_DEV_MEM_COPY_UTIL": lambda tick: tick.devices.mem_copy_util_percent,
    "DCGM_FI_DEV_ENC_UTIL": lambda tick: 0.0,
    "DCGM_FI_DEV_DEC_UTIL": lambda tick: 0.0,
    "DCGM_FI_DEV_XID_ERRORS": lambda tick: _whole(tick.counters.xid),
    "DCGM_FI_DEV_FB_FREE": lambda tick: (
        tick.info.framebuffer_total_mib - tick.info.framebuffer_used_mib - tick.info.framebuffer_reserved_mib
    ),
    "DCGM_FI_DEV_FB_USED": lambda tick: tick.info.framebuffer_used_mib,
    "DCGM_FI_DEV_FB_RESERVED": lambda tick: tick.info.framebuffer_reserved_mib,
    "DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL": lambda tick: _exposed(
        "DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL",
        tick.devices.nvlink_tx_bytes_per_second + tick.devices.nvlink_rx_bytes_per_second,
    ),
    "DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS": lambda tick: _whole(tick.counters.uncorrectable_remapped_rows),
    "DCGM_FI_DEV_CORRECTABLE_REMAPPED_ROWS": lambda tick: _whole(tick.counters.correctable_remapped_rows),
    "DCGM_FI_DEV_ROW_REMAP_FAILURE": lambda tick: 0.0,
    "DCGM_FI_DEV_POWER_VIOLATION": lambda tick: _exposed(
        "DCGM_FI_DEV_POWER_VIOLATION", tick.counters.power_violation_seconds
    ),
    "DCGM_FI_DEV_THERMAL_VIOLATION": lambda tick: _exposed(
        "DCGM_FI_DEV_THERMAL_VIOLATION", tick.counters.thermal_violation_seconds
    ),
    "DCGM_FI_DEV_CLOCK_THROTTLE_REASONS": lambda tick: _whole(tick.devices.throttle_reasons),
    "DCGM_FI_PROF_GR_ENGINE_ACTIVE": lambda tick: tick.devices.gr_engine_active,
    "DCGM_FI_PROF_SM_ACTIVE": lambda tick: tick.devices.sm_active,
    "DCGM_FI_PROF_SM_OCCUPANCY": lambda tick: tick.devices.sm_occupancy,
    "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE": lambda tick: tick.devices.tensor_active,
    "DCGM_FI_PROF_DRAM_ACTIVE": lambda tick: tick.devices.dram_active,
    "DCGM_FI_PROF_PIPE_FP64_ACTIVE": lambda tick: 0.0,
    "DCGM_FI_PROF_PIPE_FP32_ACTIVE": lambda tick: tick.devices.fp32_active,
    "DCGM_FI_PROF_PIPE_FP16_ACTIVE": lambda tick: tick.devices.fp16_active,
    "DCGM_FI_PROF_PCIE_TX_BYTES": lambda tick: tick.devices.pcie_tx_bytes_per_second,
    "DCGM_FI_PROF_PCIE_RX_BYTES": lambda tick: tick.devices.pcie_rx_bytes_per_second,
    "DCGM_FI_PROF_NVLINK_TX_BYTES": lambda tick: tick.devices.nvlink_tx_bytes_per_second,
    "DCGM_FI_PROF_NVLINK_RX_BYTES": lambda tick: tick.devices.nvlink_rx_bytes_per_second,
}

INT_FAMILIES: tuple[Family, ...] = tuple(family for family in DCGM_FAMILIES if family.number == "int")
DOUBLE_FAMILIES: tuple[Family, ...] = tuple(family for family in DCGM_FAMILIES if family.number == "double")


def _exposed(name: str, si: Floats) -> Floats:
    return si * BY_NAME[name].scale


def _whole(values: Ints) -> Floats:
    return values.astype(np.float64)


@dataclass(frozen=True, slots=True)
class Readings:
    """Readings of all boards; rows are families, columns are ranks, NaN is an absent reading."""

    ints: Floats
    """(len(INT_FAMILIES), R), whole numbers."""
    doubles: Floats
    """(len(DOUBLE_FAMILIES), R)"""
    present: NDArray[np.bool_]
    """(R,) whether the board gave any reading."""
    complete: bool
    """Whether no reading is absent."""
    dropped: int
    """Readings that were there but not believable."""


def take(tick: Tick) -> Readings:
    """All boards' readings as the monitoring of `tick` shows them.

    A board none of whose device readings exists loses its constants too.
    """
    hidden = None if tick.monitoring is None else ~tick.monitoring.profiled
    tick = tick.monitored()
    ints, dropped_ints = _block(tick, INT_FAMILIES)
    doubles, dropped_doubles = _block(tick, DOUBLE_FAMILIES)
    if hidden is not None and hidden.any():
        for block, families in ((ints, INT_FAMILIES), (doubles, DOUBLE_FAMILIES)):
            rows = np.array([family.name.startswith(PROFILING) for family in families])
            block[np.ix_(rows, hidden)] = 0.0
    devices = tick.devices
    present = ~(np.isnan(devices.gpu_util_percent) & np.isnan(devices.power_watts) & np.isnan(devices.sm_active))
    ints[:, ~present] = np.nan
    doubles[:, ~present] = np.nan
    complete = not (np.isnan(ints).any() or np.isnan(doubles).any())
    return Readings(ints, doubles, present, complete, dropped_ints + dropped_doubles)


def _block(tick: Tick, families: tuple[Family, ...]) -> tuple[Floats, int]:
    values = np.empty((len(families), tick.info.ranks))
    dropped = 0
    for row, family in zip(values, families, strict=True):
        row[:] = _READ[family.name](tick)
        lowest, greatest = family.range
        with np.errstate(invalid="ignore"):
            unbelievable = (row < lowest) | (row > greatest * _TOLERANCE)
        if unbelievable.any():
            dropped += int(np.count_nonzero(unbelievable))
            row[unbelievable] = np.nan
        np.minimum(row, greatest, out=row)
        if family.number == "int":
            np.rint(row, out=row)
    return values, dropped
