"""GPU families under the names, types and units that dcgm-exporter gives them."""

from __future__ import annotations

from exporter.catalogue.family import HOSTNAME, Family, Number, Scope, Type

GPU_LABELS = ("gpu", "UUID", "pci_bus_id", "device", "modelName", HOSTNAME, "DCGM_FI_DRIVER_VERSION")
"""Identity of a GPU, in dcgm-exporter's order."""

INSTANCE_LABELS = ("GPU_I_PROFILE", "GPU_I_ID")
"""Added before the node's name on rows of a partitioned (MIG) GPU."""

_SCALES = {
    "MHz": 1e-6, "mJ": 1e3, "ns": 1e9, "MiB": 2.0**-20, "percent": 100.0, "MB/s": 1e-6,
}  # fmt: skip
_MOST = 2.0**62
"""Above every reading, below the sentinels that DCGM puts in place of an unknown 64-bit one."""
_LIMITS = {
    "MHz": 10_000.0, "celsius": 150.0, "watts": 5_000.0, "percent": 100.0, "ratio": 1.0, "MiB": 4e6,
    "bytes/s": 1e14, "MB/s": 1e8,
}  # fmt: skip


def _field(
    name: str,
    unit: str,
    text: str,
    *aliases: str,
    kind: Type = "gauge",
    number: Number = "int",
    scope: Scope = "board",
    limit: float | None = None,
    si: tuple[str, ...] = (),
) -> Family:
    top = limit if limit is not None else _LIMITS.get(unit, _MOST)
    return Family(
        name=name, type=kind, unit=unit, help=text, scope=scope, page="node", labels=GPU_LABELS, number=number,
        scale=_SCALES.get(unit, 1.0), range=(0.0, top), aliases=aliases, si_aliases=si,
    )  # fmt: skip


def _ratio(name: str, text: str, *aliases: str) -> Family:
    return _field(name, "ratio", text, *aliases, number="double", scope="instance")


DEVICE_FAMILIES = (
    _field(
        "DCGM_FI_DEV_SM_CLOCK", "MHz", "Clock of the streaming multiprocessors in MHz.", "dcgm_sm_clock",
        si=("DCGM_FI_DEV_SM_CLOCK_HERTZ",),
    ),
    _field(
        "DCGM_FI_DEV_MEM_CLOCK", "MHz", "Clock of the device memory in MHz.", "dcgm_memory_clock",
        si=("DCGM_FI_DEV_MEMORY_CLOCK_HERTZ",),
    ),
    _field(
        "DCGM_FI_DEV_MEMORY_TEMP", "celsius", "Temperature of the device memory in degrees Celsius.",
        "dcgm_memory_temp", "DCGM_FI_DEV_MEMORY_TEMP_CELSIUS",
    ),
    _field(
        "DCGM_FI_DEV_GPU_TEMP", "celsius", "Temperature of the GPU in degrees Celsius.",
        "dcgm_gpu_temp", "DCGM_FI_DEV_GPU_TEMP_CELSIUS",
    ),
    _field(
        "DCGM_FI_DEV_POWER_USAGE", "watts", "Power drawn by the board in watts.",
        "dcgm_power_usage", "DCGM_FI_DEV_BOARD_POWER_WATTS", number="double",
    ),
    _field(
        "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", "mJ", "Energy used by the board in millijoules.",
        "dcgm_total_energy_consumption", "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION_total", kind="counter",
        si=("DCGM_FI_DEV_GPU_ENERGY_JOULES_TOTAL",),
    ),
    _field(
        "DCGM_FI_DEV_PCIE_REPLAY_COUNTER", "", "PCIe packets sent again.",
        "dcgm_pcie_replay_counter", "DCGM_FI_DEV_PCIE_REPLAY_COUNTER_total",
        "DCGM_FI_DEV_PCIE_REPLAY_TOTAL", kind="counter",
    ),
    _field(
        "DCGM_FI_DEV_GPU_UTIL", "percent", "Share of time, in percent, in which some kernel was running.",
        "dcgm_gpu_utilization", "DCGM_FI_DEV_GPU_UTIL_RATIO", si=("DCGM_FI_DEV_GPU_UTIL_RATIO",),
    ),
    _field(
        "DCGM_FI_DEV_MEM_COPY_UTIL", "percent", "Share of time, in percent, in which device memory was accessed.",
        "dcgm_mem_copy_utilization", si=("DCGM_FI_DEV_MEMORY_UTIL_RATIO",),
    ),
    _field(
        "DCGM_FI_DEV_ENC_UTIL", "percent", "Utilization of the video encoder in percent.", "dcgm_enc_utilization",
        si=("DCGM_FI_DEV_ENC_UTIL_RATIO",),
    ),
    _field(
        "DCGM_FI_DEV_DEC_UTIL", "percent", "Utilization of the video decoder in percent.", "dcgm_dec_utilization",
        si=("DCGM_FI_DEV_DEC_UTIL_RATIO",),
    ),
    _field(
        "DCGM_FI_DEV_XID_ERRORS", "", "Code of the last XID error; 0 when there was none.",
        "dcgm_xid_errors", "DCGM_FI_DEV_XID_ERROR", limit=10_000.0,
    ),
    _field(
        "DCGM_FI_DEV_FB_FREE", "MiB", "Device memory free in MiB.", "dcgm_fb_free", scope="instance",
        si=("DCGM_FI_DEV_FB_FREE_BYTES",),
    ),
    _field(
        "DCGM_FI_DEV_FB_USED", "MiB", "Device memory used in MiB.", "dcgm_fb_used", scope="instance",
        si=("DCGM_FI_DEV_FB_USED_BYTES",),
    ),
    _field(
        "DCGM_FI_DEV_FB_RESERVED", "MiB", "Device memory kept by the driver in MiB.", scope="instance",
        si=("DCGM_FI_DEV_FB_RESERVED_BYTES",),
    ),
    _field(
        "DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL", "MB/s",
        "NVLink traffic of all links, both directions, in MB/s: declared a counter, in truth a rate.",
        "dcgm_nvlink_bandwidth_total", "DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL_total",
        "DCGM_FI_DEV_NVLINK_THROUGHPUT_TOTAL", kind="counter",
        si=("DCGM_FI_DEV_NVLINK_THROUGHPUT_BYTES_PER_SECOND",),
    ),
    _field(
        "DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS", "", "Memory rows remapped after uncorrectable errors.",
        "DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS_total", "DCGM_FI_DEV_ROW_REMAP_UNCORRECTABLE_TOTAL", kind="counter",
    ),
    _field(
        "DCGM_FI_DEV_CORRECTABLE_REMAPPED_ROWS", "", "Memory rows remapped after correctable errors.",
        "DCGM_FI_DEV_CORRECTABLE_REMAPPED_ROWS_total", "DCGM_FI_DEV_ROW_REMAP_CORRECTABLE_TOTAL", kind="counter",
    ),
    _field(
        "DCGM_FI_DEV_ROW_REMAP_FAILURE", "", "1 when remapping a memory row has failed.",
        "DCGM_FI_DEV_ROW_REMAP_FAILED", limit=1.0,
    ),
    _field(
        "DCGM_FI_DEV_POWER_VIOLATION", "ns", "Time with clocks held down by a power limit, in nanoseconds.",
        "DCGM_FI_DEV_POWER_VIOLATION_total", kind="counter", si=("DCGM_FI_DEV_GPU_POWER_THROTTLE_SECONDS_TOTAL",),
    ),
    _field(
        "DCGM_FI_DEV_THERMAL_VIOLATION", "ns", "Time with clocks held down by temperature, in nanoseconds.",
        "DCGM_FI_DEV_THERMAL_VIOLATION_total", kind="counter", si=("DCGM_FI_DEV_GPU_THERMAL_THROTTLE_SECONDS_TOTAL",),
    ),
    _field(
        "DCGM_FI_DEV_CLOCK_THROTTLE_REASONS", "", "Why clocks are held down, as a bit mask.",
        "DCGM_FI_DEV_CLOCKS_EVENT_REASONS",
    ),
)  # fmt: skip

PROFILING_FAMILIES = (
    _ratio(
        "DCGM_FI_PROF_GR_ENGINE_ACTIVE", "Share of time in which the compute or graphics engine was active.",
        "dcgm_fi_prof_gr_engine_active", "DCGM_FI_PROF_GR_ENGINE_UTIL_RATIO",
    ),
    _ratio(
        "DCGM_FI_PROF_SM_ACTIVE", "Share of time in which an SM held at least one warp, averaged over the SMs.",
        "dcgm_fi_prof_sm_active", "DCGM_FI_PROF_SM_UTIL_RATIO",
    ),
    _ratio(
        "DCGM_FI_PROF_SM_OCCUPANCY", "Resident warps as a share of the most that the SMs can hold.",
        "dcgm_fi_prof_sm_occupancy", "DCGM_FI_PROF_SM_OCCUPANCY_RATIO",
    ),
    _ratio(
        "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", "Share of cycles in which the tensor pipe was active.",
        "dcgm_fi_prof_pipe_tensor_active", "DCGM_FI_PROF_TENSOR_UTIL_RATIO",
    ),
    _ratio(
        "DCGM_FI_PROF_DRAM_ACTIVE", "Share of cycles in which device memory was sending or receiving.",
        "dcgm_fi_prof_dram_active", "DCGM_FI_PROF_DRAM_UTIL_RATIO",
    ),
    _ratio(
        "DCGM_FI_PROF_PIPE_FP64_ACTIVE", "Share of cycles in which the FP64 pipe was active.",
        "dcgm_fi_prof_pipe_fp64_active", "DCGM_FI_PROF_FP64_UTIL_RATIO",
    ),
    _ratio(
        "DCGM_FI_PROF_PIPE_FP32_ACTIVE", "Share of cycles in which the FP32 pipe was active.",
        "dcgm_fi_prof_pipe_fp32_active", "DCGM_FI_PROF_FP32_UTIL_RATIO",
    ),
    _ratio(
        "DCGM_FI_PROF_PIPE_FP16_ACTIVE", "Share of cycles in which the FP16 pipe was active.",
        "dcgm_fi_prof_pipe_fp16_active", "DCGM_FI_PROF_FP16_UTIL_RATIO",
    ),
    _field(
        "DCGM_FI_PROF_PCIE_TX_BYTES", "bytes/s", "PCIe traffic from device to host in bytes per second.",
        "dcgm_fi_prof_pcie_tx_bytes",
    ),
    _field(
        "DCGM_FI_PROF_PCIE_RX_BYTES", "bytes/s", "PCIe traffic from host to device in bytes per second.",
        "dcgm_fi_prof_pcie_rx_bytes",
    ),
    _field(
        "DCGM_FI_PROF_NVLINK_TX_BYTES", "bytes/s", "NVLink traffic sent by the GPU in bytes per second.",
        "dcgm_fi_prof_nvlink_tx_bytes",
    ),
    _field(
        "DCGM_FI_PROF_NVLINK_RX_BYTES", "bytes/s", "NVLink traffic received by the GPU in bytes per second.",
        "dcgm_fi_prof_nvlink_rx_bytes",
    ),
)  # fmt: skip

DCGM_FAMILIES = DEVICE_FAMILIES + PROFILING_FAMILIES
