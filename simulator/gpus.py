"""GPU models: peaks, clocks, and what each phase of a step looks like on the device.

Peaks, memory and power are the vendors' published figures (as collected in the accelerator tables of
stas00/ml-engineering and in torchtitan's peak table). The phase rows are calibrated to published observations:
AcmeTrace quantiles, the DCGM field guide, NCCL issue logs (a spinning collective draws 150-190 W of 700 W at 100 %
utilization).
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class PhaseRow:
    """What DCGM reports while a GPU is in one kind of phase, as time averages; ratios are 0-1."""

    util: float
    """Share of time with any kernel resident: what GPU_UTIL counts."""
    gr_engine_active: float
    sm_active: float
    sm_occupancy: float
    dram_active: float
    fp32_active: float
    watts: float


@dataclass(frozen=True, slots=True)
class GpuModel:
    """One GPU product. SI units unless the name says otherwise."""

    key: str
    product: str
    """Name that NVML reports."""
    sm_count: int
    dense_peak_flops: MappingProxyType[str, float]
    """Dense peak per precision, FLOP/s."""
    matmul_ceiling: MappingProxyType[str, float]
    """Share of the peak that the best measured matrix product reaches."""
    hbm_bytes_per_second: float
    pcie_bytes_per_second: float
    """Measured pinned host-to-device rate, one direction."""
    framebuffer_mib: int
    framebuffer_reserved_mib: int
    tdp_watts: float
    peak_clock_mhz: float
    """SM clock at which the dense peak is quoted."""
    healthy_clock_mhz: float
    """SM clock held under a healthy training load."""
    memory_clock_mhz: int
    throttle_clock_ratio: float
    """SM clock over peak clock during hardware thermal slowdown."""
    throttle_above_celsius: float
    throttle_until_celsius: float
    thermal_seconds: float
    """Time constant of the board's temperature."""
    kelvin_per_watt: float
    ambient_celsius: float
    nccl_channels: int
    """SMs that a collective kernel holds."""
    compute: PhaseRow
    optimizer: PhaseRow
    collective: PhaseRow
    """Also the row of a rank that spins in a collective, waiting."""
    idle: PhaseRow
    """A context without a kernel: data wait, exposed copies, checkpoints."""

    @property
    def healthy_clock_ratio(self) -> float:
        """Healthy SM clock over the clock at which the peak is quoted."""
        return self.healthy_clock_mhz / self.peak_clock_mhz


_H100_SMS = 132
_H100_CHANNELS = 16

H100_SXM = GpuModel(
    key="h100-sxm",
    product="NVIDIA H100 80GB HBM3",
    sm_count=_H100_SMS,
    dense_peak_flops=MappingProxyType({"bf16": 989e12, "fp16": 989e12, "fp8": 1979e12}),
    matmul_ceiling=MappingProxyType({"bf16": 794.5 / 989, "fp16": 794.5 / 989, "fp8": 1402.6 / 1979}),
    hbm_bytes_per_second=3.35e12,
    pcie_bytes_per_second=55e9,
    framebuffer_mib=81_559,
    framebuffer_reserved_mib=552,
    tdp_watts=700.0,
    peak_clock_mhz=1830.0,
    healthy_clock_mhz=1755.0,
    memory_clock_mhz=2619,
    throttle_clock_ratio=0.27,
    throttle_above_celsius=87.0,
    throttle_until_celsius=80.0,
    thermal_seconds=60.0,
    kelvin_per_watt=0.05,
    ambient_celsius=28.0,
    nccl_channels=_H100_CHANNELS,
    compute=PhaseRow(1.0, 0.99, 0.90, 0.20, 0.40, 0.06, 670.0),
    optimizer=PhaseRow(1.0, 0.99, 0.85, 0.60, 0.75, 0.30, 475.0),
    collective=PhaseRow(1.0, 0.99, _H100_CHANNELS / _H100_SMS, 0.05, 0.06, 0.02, 190.0),
    idle=PhaseRow(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 120.0),
)
