"""GPU models from V100 to B200: peaks, clocks, and what each phase of a step looks like on the device.

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
    nvlink_bytes_per_second: float
    """Total of all links, both directions."""
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
    bare_idle_watts: float
    """Power without a context: the foot of the power law of ranks that spin."""
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


_COMPUTE_WATTS, _OPTIMIZER_WATTS, _SPIN_WATTS, _CONTEXT_WATTS, _BARE_WATTS = 0.957, 0.679, 0.271, 0.171, 0.1
"""Power of the H100's phases over its 700 W: GEMMs, optimizer, spinning collective, idle with and without a context."""
_CEILING_OF_UNMEASURED = 0.85


def _gpu(
    key: str,
    product: str,
    *,
    sms: int,
    peaks: dict[str, float],
    ceilings: dict[str, float],
    hbm: float,
    nvlink: float,
    pcie: float,
    framebuffer_mib: int,
    tdp: float,
    clocks: tuple[float, float, int],
    channels: int,
) -> GpuModel:
    """A GPU whose phases draw the H100's shares of its own board power. `peaks` in TFLOP/s, rates in GB/s."""
    spin = PhaseRow(1.0, 0.99, channels / sms, 0.05, 0.06, 0.02, _SPIN_WATTS * tdp)
    return GpuModel(
        key=key,
        product=product,
        sm_count=sms,
        dense_peak_flops=MappingProxyType({name: value * 1e12 for name, value in peaks.items()}),
        matmul_ceiling=MappingProxyType(
            {
                name: ceilings[name] / value if name in ceilings else _CEILING_OF_UNMEASURED
                for name, value in peaks.items()
            }
        ),
        hbm_bytes_per_second=hbm * 1e9,
        nvlink_bytes_per_second=nvlink * 1e9,
        pcie_bytes_per_second=pcie * 1e9,
        framebuffer_mib=framebuffer_mib,
        framebuffer_reserved_mib=552,
        tdp_watts=tdp,
        peak_clock_mhz=clocks[0],
        healthy_clock_mhz=clocks[1],
        memory_clock_mhz=clocks[2],
        throttle_clock_ratio=0.27,
        throttle_above_celsius=87.0,
        throttle_until_celsius=80.0,
        thermal_seconds=60.0,
        kelvin_per_watt=35.0 / tdp,
        ambient_celsius=28.0,
        nccl_channels=channels,
        bare_idle_watts=_BARE_WATTS * tdp,
        compute=PhaseRow(1.0, 0.99, 0.90, 0.20, 0.40, 0.06, _COMPUTE_WATTS * tdp),
        optimizer=PhaseRow(1.0, 0.99, 0.85, 0.60, 0.75, 0.30, _OPTIMIZER_WATTS * tdp),
        collective=spin,
        idle=PhaseRow(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, _CONTEXT_WATTS * tdp),
    )


_A100_MATMUL = {"bf16": 271.2, "fp16": 271.2}
_H100_PEAKS = {"bf16": 989.0, "fp16": 989.0, "fp8": 1979.0}
_H100_MATMUL = {"bf16": 794.5, "fp16": 794.5, "fp8": 1402.6}

V100_SXM = _gpu(
    "v100-sxm", "Tesla V100-SXM2-32GB", sms=80, peaks={"fp16": 125.0}, ceilings={}, hbm=900, nvlink=300, pcie=12.4,
    framebuffer_mib=32_768, tdp=300.0, clocks=(1530.0, 1455.0, 877), channels=16,
)  # fmt: skip
A100_SXM_40 = _gpu(
    "a100-sxm-40", "NVIDIA A100-SXM4-40GB", sms=108, peaks={"bf16": 312.0, "fp16": 312.0}, ceilings=_A100_MATMUL,
    hbm=1555, nvlink=600, pcie=24.8, framebuffer_mib=40_960, tdp=400.0, clocks=(1410.0, 1365.0, 1215), channels=24,
)  # fmt: skip
A100_SXM = _gpu(
    "a100-sxm", "NVIDIA A100-SXM4-80GB", sms=108, peaks={"bf16": 312.0, "fp16": 312.0}, ceilings=_A100_MATMUL,
    hbm=2039, nvlink=600, pcie=24.8, framebuffer_mib=81_920, tdp=400.0, clocks=(1410.0, 1365.0, 1593), channels=24,
)  # fmt: skip
H100_SXM = _gpu(
    "h100-sxm", "NVIDIA H100 80GB HBM3", sms=132, peaks=_H100_PEAKS, ceilings=_H100_MATMUL,
    hbm=3350, nvlink=900, pcie=55.0, framebuffer_mib=81_559, tdp=700.0, clocks=(1830.0, 1755.0, 2619), channels=16,
)  # fmt: skip
H200_SXM = _gpu(
    "h200-sxm", "NVIDIA H200", sms=132, peaks=_H100_PEAKS, ceilings=_H100_MATMUL,
    hbm=4800, nvlink=900, pcie=55.0, framebuffer_mib=143_771, tdp=700.0, clocks=(1830.0, 1755.0, 3201), channels=16,
)  # fmt: skip
B200_SXM = _gpu(
    "b200-sxm", "NVIDIA B200", sms=148, peaks={"bf16": 2250.0, "fp16": 2250.0, "fp8": 4500.0},
    ceilings={"bf16": 1745.0, "fp16": 1745.0, "fp8": 3432.0}, hbm=8000, nvlink=1800, pcie=55.0,
    framebuffer_mib=183_359, tdp=1000.0, clocks=(1965.0, 1900.0, 3996), channels=24,
)  # fmt: skip

GPUS: MappingProxyType[str, GpuModel] = MappingProxyType(
    {gpu.key: gpu for gpu in (V100_SXM, A100_SXM_40, A100_SXM, H100_SXM, H200_SXM, B200_SXM)}
)
