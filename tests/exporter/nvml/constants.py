"""Numbers of NVML that the fake and its tests use; a test compares them with the real module."""

from __future__ import annotations

GPM_METRICS = {
    1: "GRAPHICS_UTIL", 2: "SM_UTIL", 3: "SM_OCCUPANCY", 5: "ANY_TENSOR_UTIL", 10: "DRAM_BW_UTIL", 11: "FP64_UTIL",
    12: "FP32_UTIL", 13: "FP16_UTIL", 20: "PCIE_TX_PER_SEC", 21: "PCIE_RX_PER_SEC", 60: "NVLINK_TOTAL_RX_PER_SEC",
    61: "NVLINK_TOTAL_TX_PER_SEC",
}  # fmt: skip

CONSTANTS = {
    "NVML_CLOCK_SM": 1,
    "NVML_CLOCK_MEM": 2,
    "NVML_TEMPERATURE_GPU": 0,
    "NVML_PCIE_UTIL_TX_BYTES": 0,
    "NVML_PCIE_UTIL_RX_BYTES": 1,
    "NVML_PERF_POLICY_POWER": 0,
    "NVML_PERF_POLICY_THERMAL": 1,
    "NVML_FI_DEV_MEMORY_TEMP": 82,
    "NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_TX": 138,
    "NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_RX": 139,
    "NVML_GPM_METRICS_GET_VERSION": 1,
    "nvmlMemory_v2": 0x02000028,
    "nvmlEventTypeXidCriticalError": 8,
    **{f"NVML_GPM_METRIC_{name}": number for number, name in GPM_METRICS.items()},
}
