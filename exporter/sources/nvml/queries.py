"""One row per call to the driver: what is asked, and which families the answer gives, in exposed units.

PCIe throughput comes in KB/s without a word on whether that is 1000 or 1024 bytes; here it is 1000. FB_USED of the
second version of the memory call excludes what the driver keeps; the first version counts that as used.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

BLANK_32 = 2**32 - 1
BLANK_64 = 2**64 - 1
"""What NVML writes into an unsigned number that it does not know."""

_BYTES_PER_KB = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A function of NVML that is given a board's handle."""

    call: str
    families: tuple[str, ...]
    """In the order in which `read` gives their values."""
    read: Callable[[Any], Sequence[int]]
    """Raw numbers out of the answer."""
    exposed: Callable[[int], int | float] | None = None
    """Raw to exposed units; None when they are the same."""
    argument: str = ""
    """Name of the constant that goes behind the handle."""
    blank: int = BLANK_32
    """Raw value that stands for an unknown one."""
    instead: Query | None = None
    """What to ask where this is not supported."""
    profiled: bool = False
    """Whether GPM gives the same, and better."""

    @property
    def name(self) -> str:
        """Tells it from other queries."""
        return f"{self.call}({self.argument})" if self.argument else self.call


def _one(answer: Any) -> tuple[int]:
    return (answer,)


def _first(answer: Any) -> tuple[int]:
    return (answer[0],)


def _mib(count: int) -> int:
    return count >> 20


def _violation(answer: Any) -> tuple[int]:
    return (answer.violationTime,)


def _pcie(argument: str, family: str) -> Query:
    return Query(
        call="nvmlDeviceGetPcieThroughput", argument=argument, families=(family,), read=_one,
        exposed=lambda kilobytes: kilobytes * _BYTES_PER_KB, profiled=True,
    )  # fmt: skip


MEMORY = Query(
    call="nvmlDeviceGetMemoryInfo", argument="nvmlMemory_v2", exposed=_mib, blank=BLANK_64,
    families=("DCGM_FI_DEV_FB_FREE", "DCGM_FI_DEV_FB_USED", "DCGM_FI_DEV_FB_RESERVED"),
    read=lambda memory: (memory.free, memory.used, memory.reserved),
    instead=Query(
        call="nvmlDeviceGetMemoryInfo", exposed=_mib, blank=BLANK_64,
        families=("DCGM_FI_DEV_FB_FREE", "DCGM_FI_DEV_FB_USED"), read=lambda memory: (memory.free, memory.used),
    ),
)  # fmt: skip
"""Of a board or of a partition."""

BOARD_QUERIES = (
    Query(
        call="nvmlDeviceGetClockInfo", argument="NVML_CLOCK_SM", families=("DCGM_FI_DEV_SM_CLOCK",), read=_one,
    ),
    Query(
        call="nvmlDeviceGetClockInfo", argument="NVML_CLOCK_MEM", families=("DCGM_FI_DEV_MEM_CLOCK",), read=_one,
    ),
    Query(
        call="nvmlDeviceGetTemperature", argument="NVML_TEMPERATURE_GPU", families=("DCGM_FI_DEV_GPU_TEMP",),
        read=_one,
        instead=Query(  # its successor, for when the older one is gone
            call="nvmlDeviceGetTemperatureV", argument="NVML_TEMPERATURE_GPU", families=("DCGM_FI_DEV_GPU_TEMP",),
            read=_one,
        ),
    ),
    Query(
        call="nvmlDeviceGetPowerUsage", families=("DCGM_FI_DEV_POWER_USAGE",), read=_one,
        exposed=lambda milliwatts: milliwatts / 1000,
    ),
    Query(
        call="nvmlDeviceGetTotalEnergyConsumption", families=("DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION",), read=_one,
        blank=BLANK_64,
    ),
    Query(call="nvmlDeviceGetPcieReplayCounter", families=("DCGM_FI_DEV_PCIE_REPLAY_COUNTER",), read=_one),
    Query(
        call="nvmlDeviceGetUtilizationRates", families=("DCGM_FI_DEV_GPU_UTIL", "DCGM_FI_DEV_MEM_COPY_UTIL"),
        read=lambda rates: (rates.gpu, rates.memory),
    ),
    Query(call="nvmlDeviceGetEncoderUtilization", families=("DCGM_FI_DEV_ENC_UTIL",), read=_first),
    Query(call="nvmlDeviceGetDecoderUtilization", families=("DCGM_FI_DEV_DEC_UTIL",), read=_first),
    Query(
        call="nvmlDeviceGetRemappedRows",
        families=(
            "DCGM_FI_DEV_CORRECTABLE_REMAPPED_ROWS", "DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS",
            "DCGM_FI_DEV_ROW_REMAP_FAILURE",
        ),
        read=lambda rows: (rows[0], rows[1], rows[3]),
    ),
    Query(
        call="nvmlDeviceGetViolationStatus", argument="NVML_PERF_POLICY_POWER",
        families=("DCGM_FI_DEV_POWER_VIOLATION",), read=_violation, blank=BLANK_64,
    ),
    Query(
        call="nvmlDeviceGetViolationStatus", argument="NVML_PERF_POLICY_THERMAL",
        families=("DCGM_FI_DEV_THERMAL_VIOLATION",), read=_violation, blank=BLANK_64,
    ),
    Query(
        call="nvmlDeviceGetCurrentClocksEventReasons", families=("DCGM_FI_DEV_CLOCK_THROTTLE_REASONS",), read=_one,
        blank=BLANK_64,
        instead=Query(
            call="nvmlDeviceGetCurrentClocksThrottleReasons", families=("DCGM_FI_DEV_CLOCK_THROTTLE_REASONS",),
            read=_one, blank=BLANK_64,
        ),
    ),
    _pcie("NVML_PCIE_UTIL_TX_BYTES", "DCGM_FI_PROF_PCIE_TX_BYTES"),
    _pcie("NVML_PCIE_UTIL_RX_BYTES", "DCGM_FI_PROF_PCIE_RX_BYTES"),
)  # fmt: skip
"""What describes the whole board, however it is partitioned. PCIe comes last: it takes the driver 20 ms."""
