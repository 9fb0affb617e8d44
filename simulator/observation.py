"""What can be observed of a run: the shape of every number that leaves the simulator.

A `Tick` is one finished second of one run. Its arrays are read-only; readers share them freely. Shapes: R = ranks,
K = nodes, P = len(PHASES). Units are SI (seconds, bytes, watts, joules, hertz, °C) unless a name says otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

THROTTLE_HW_THERMAL = 0x0000000000000040
THROTTLE_SW_POWER_CAP = 0x0000000000000004
"""Bits of DCGM_FI_DEV_CLOCK_THROTTLE_REASONS that the model can set (nvml.h, nvmlClocksThrottleReason*)."""


@dataclass(frozen=True, slots=True)
class GpuIdentity:
    """Who one simulated GPU is; position in `RunInfo.gpus` is its rank."""

    rank: int
    node: int
    """Index into `RunInfo.hostnames`."""
    gpu: int
    """Index on its node, which is also the local rank."""
    uuid: str
    pci_bus_id: str
    device: str
    """Device file name, `nvidia0` and so on."""


@dataclass(frozen=True, slots=True)
class RunInfo:
    """What does not change while a run lasts."""

    run: str
    """Label that tells this run from every other one."""
    preset: str
    seed: int
    model: str
    precision: str
    strategy: str
    flops_convention: str
    gpu_model: str
    """NVML product name, for example `NVIDIA H100 80GB HBM3`."""
    driver_version: str
    ranks: int
    nodes: int
    gpus_per_node: int
    hostnames: tuple[str, ...]
    """One per node."""
    nic_devices: tuple[str, ...]
    """Names of the RDMA devices of each node; empty where the job never leaves a node."""
    gpus: tuple[GpuIdentity, ...]
    """One per rank."""
    flops_per_token: float
    """Model FLOPs, forward and backward, under `flops_convention`."""
    hardware_flops_per_token: float
    """As above plus what recomputation adds."""
    peak_flops_per_second: float
    """Sum over all GPUs of the dense peak at the training precision."""
    tokens_per_step: int
    samples_per_step: int
    dataloader_capacity_batches: int
    framebuffer_total_mib: int
    framebuffer_used_mib: int
    framebuffer_reserved_mib: int
    memory_clock_mhz: int
    clipped: bool
    """Whether the job clips its gradients."""
    warnings: tuple[str, ...]
    """What a reader must know before believing this preset's numbers."""


@dataclass(frozen=True, slots=True)
class Devices:
    """Device readings averaged over the tick's one-second window; every array has shape (R,)."""

    gpu_util_percent: Floats
    gr_engine_active: Floats
    sm_active: Floats
    sm_occupancy: Floats
    tensor_active: Floats
    dram_active: Floats
    fp32_active: Floats
    fp16_active: Floats
    mem_copy_util_percent: Floats
    power_watts: Floats
    temperature_celsius: Floats
    memory_temperature_celsius: Floats
    sm_clock_mhz: Floats
    throttle_reasons: Ints
    """Bit mask, see THROTTLE_*."""
    pcie_tx_bytes_per_second: Floats
    pcie_rx_bytes_per_second: Floats
    """RX is host to device."""
    nvlink_tx_bytes_per_second: Floats
    nvlink_rx_bytes_per_second: Floats


@dataclass(frozen=True, slots=True)
class Counters:
    """Totals since the run began. Phase seconds, energy and bytes accrue inside a step; the others move at its end."""

    steps: int
    tokens: int
    samples: int
    model_flops: float
    hardware_flops: float
    step_seconds_sum: float
    step_seconds_buckets: Ints
    """Cumulative counts per bound of STEP_SECONDS_BUCKETS, +Inf last; shape (len + 1,)."""
    checkpoints: int
    nonfinite_steps: int
    skipped_steps: int
    grad_norm_spikes: int
    phase_seconds: Floats
    """Shape (P, R), rows in the order of PHASES; each column grows by 1 per simulated second."""
    collective_seconds: Floats
    """(R,) time inside collective kernels, overlapped and spinning included."""
    collective_bytes: Floats
    """(R,) bytes moved on the bus by collectives, so that bytes / seconds is the bus bandwidth."""
    energy_joules: Floats
    """(R,)"""
    thermal_violation_seconds: Floats
    """(R,) time with clocks held down by temperature."""
    power_violation_seconds: Floats
    """(R,) time with clocks held down by a power limit."""
    xid: Ints
    """(R,) code of the last XID error of each GPU since the run began; 0 when there was none."""
    correctable_remapped_rows: Ints
    """(R,) memory rows remapped after correctable errors."""
    uncorrectable_remapped_rows: Ints
    """(R,) the same after uncorrectable ones."""
    storage_read_bytes: Floats
    """(K,)"""
    network_transmit_bytes: Floats
    """(K, NICs)"""
    network_pause_frames: Floats
    """(K, NICs)"""
    network_retransmits: Floats
    """(K, NICs)"""


@dataclass(frozen=True, slots=True)
class Learning:
    """What the model learns: values of the last finished step. Non-finite values are real values here."""

    loss: float
    grad_norm: float
    """Before clipping."""
    learning_rate: float
    loss_scale: float
    """1.0 unless the job trains in fp16."""


@dataclass(frozen=True, slots=True)
class Collectives:
    """What the collectives of one step depend on. B of them, in the order in which they leave."""

    kind: str
    """`all-reduce` (of gradient buckets) or `gather-scatter` (of layers)."""
    mode: str
    """`overlapped`: each leaves during backward; `after`: all follow backward; `beside`: beside forward and backward,
    no one knows which when; `none`: there is nobody to talk to."""
    ready: Floats
    """(B,) share of the compute window that is done when each is ready."""
    seconds: Floats
    """(B,) how long each takes."""
    arrivals: Floats
    """(R,) end of the compute window, seconds after the step began."""
    windows: Floats
    """(R,) its length."""
    bubble_seconds: float
    """Time of the pipeline that fills and drains, which the phase `collective_wait` has on top."""


@dataclass(frozen=True, slots=True)
class StepTrace:
    """One finished step, rank by rank. `starts[p, r]` is seconds after the step began."""

    step: int
    start_seconds: float
    """Seconds since the run began."""
    duration_seconds: float
    starts: Floats
    """(P, R)"""
    seconds: Floats
    """(P, R)"""
    slowest_rank: int
    """The rank that the others waited for: the last to arrive at the barrier."""
    collectives: Collectives | None = None
    """None where nobody modelled them."""


@dataclass(frozen=True, slots=True)
class FaultView:
    """One fault as the simulator applied it in this tick: the truth, which only `/metrics/truth` may show."""

    name: str
    kind: str
    target: str
    intensity: float


@dataclass(frozen=True, slots=True)
class Monitoring:
    """What the monitoring of a tick's second would show, where that is not what is."""

    devices: Devices
    """NaN where a GPU gives no readings, old ones where its source repeats them."""
    counters: Counters
    """Those of a board as old as its readings; all others as they are."""
    profiled: NDArray[np.bool_]
    """(R,) whether the GPU's profiling counters may be read; they are 0 where not."""
    reachable: NDArray[np.bool_]
    """(K,) whether the node answers."""


@dataclass(frozen=True, slots=True)
class Tick:
    """One finished second of a run, complete and immutable."""

    info: RunInfo
    index: int
    """0 for the first second of the run."""
    seconds: float
    """Simulated seconds since the run began, at the end of this tick."""
    timestamp: float
    """Unix time of the end of this tick."""
    next_step: int
    """Index of the first step that a change made now can still affect."""
    devices: Devices
    counters: Counters
    learning: Learning
    queue_batches: Floats
    """(R,) batches ready in the data loader."""
    step_mfu: float
    """MFU of the steps that ended in this tick. When none did, of the last one, or of the running one once that has
    taken longer, as if it ended now."""
    step_hfu: float
    step_seconds: float
    """Mean duration of the same steps."""
    last_step: StepTrace | None
    """None until the first step has ended."""
    last_step_timestamp: float
    """Unix time at which the last step ended; 0 until one has."""
    faults: tuple[FaultView, ...]
    monitoring: Monitoring | None = None
    """None while it shows what is."""

    def monitored(self) -> Tick:
        """This tick with the device readings, and the counters, that the monitoring shows."""
        seen = self.monitoring
        return self if seen is None else replace(self, devices=seen.devices, counters=seen.counters)
