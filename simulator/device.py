"""What the GPUs show of a step: activity, power, temperature and clocks, integrated over one-second windows.

Each phase has one row of activity and power (`simulator.gpus`); a reading is the time average of the rows. Tensor
activity alone is derived from work done: mean tensor activity × peak × clock ratio is the hardware FLOP/s.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from faults.effects import Effects
from simulator.gpus import GpuModel, PhaseRow
from simulator.job import JobSpec
from simulator.observation import THROTTLE_HW_THERMAL, THROTTLE_SW_POWER_CAP, Devices, Floats
from simulator.streams import generator
from simulator.timeline import BACKWARD, FORWARD, StepBlock
from simulator.windows import Window

_STATIC_SHARE, _CLOCK_EXPONENT = 0.478, 2.5
"""Share of compute power that no clock saves, and the law of the rest: half the board power is left at 495 of
1,830 MHz, as throttled boards show."""
_MEMORY_HOTTER_CELSIUS = 9.0
_AMBIENT_SPREAD_CELSIUS = 1.5


def phase_rows(gpu: GpuModel) -> tuple[PhaseRow, ...]:
    """One row per phase, in the order of PHASES."""
    return (
        gpu.idle,  # data_wait
        gpu.idle,  # h2d, when exposed
        gpu.compute,  # forward
        gpu.compute,  # backward
        gpu.collective,  # collective_wait: the kernel spins
        gpu.collective,  # collective
        gpu.optimizer,
        gpu.idle,  # checkpoint
        gpu.collective,  # stall
    )


class DeviceModel:
    """Thermal and clock state of all GPUs, and the readings of each window. Arrays have shape (R,)."""

    def __init__(self, spec: JobSpec, *, seed: int, first_step: StepBlock) -> None:
        self._gpu = spec.cluster.gpu
        rows = phase_rows(self._gpu)
        self._table = np.array(
            [
                [r.util, r.gr_engine_active, r.sm_active, r.sm_occupancy, r.dram_active, r.fp32_active, r.watts]
                for r in rows
            ]
        ).T.copy()
        spread = generator(seed, "ambient").random(spec.ranks) * 2.0 - 1.0
        self._ambient = self._gpu.ambient_celsius + _AMBIENT_SPREAD_CELSIUS * spread
        self.throttled = np.zeros(spec.ranks, dtype=bool)
        """(R,) whether temperature holds the clock down."""
        self.capped = np.zeros(spec.ranks, dtype=bool)
        """(R,) whether a power limit does."""
        self._limit = np.full(spec.ranks, np.inf)
        self._idle: NDArray[np.bool_] | None = None
        """(R,) whose GPU has nothing to do, whatever the phase of its rank; None for nobody."""
        self._resistance = np.ones(spec.ranks)
        step_seconds = first_step.phases[0]
        watts = self._table[-1] @ step_seconds / first_step.durations[0]
        # A lab starts in the middle of a run, so its boards are warm.
        self.temperature = self._ambient + self._gpu.kelvin_per_watt * watts

    def apply(self, effects: Effects) -> None:
        """Cooling and power limits of the coming tick."""
        self._resistance = effects.thermal_resistance
        self._limit = effects.power_limit_watts
        self.capped = self._limit < self._gpu.compute.watts
        idle = effects.dead | effects.lost | effects.is_down
        self._idle = idle if idle.any() else None

    def heat(self, effects: Effects) -> bool:
        """Warm every board as far as this cooling lets a healthy job warm it, at most to where clocks fall.

        Says whether any board can come that far: its clock may then never settle, and only time tells its mean.
        """
        per_watt = self._gpu.kelvin_per_watt * effects.thermal_resistance
        edge = self._gpu.throttle_above_celsius
        settled = self._ambient + effects.thermal_resistance * (self.temperature - self._ambient)
        self.temperature = np.minimum(settled, edge)
        return bool((self._ambient + per_watt * self._gpu.compute.watts > edge).any())

    @property
    def clock_ratio(self) -> Floats:
        """SM clock over the clock at which the peak is quoted, for steps that start now."""
        healthy = self._gpu.healthy_clock_ratio
        ratio = np.full(len(self.throttled), healthy)
        if self.capped.any():
            full = self._gpu.compute.watts
            room = np.clip((self._limit / full - _STATIC_SHARE) / (1.0 - _STATIC_SHARE), 0.0, 1.0)
            ratio = np.maximum(healthy * room ** (1.0 / _CLOCK_EXPONENT), self._gpu.throttle_clock_ratio)
        return np.where(self.throttled, self._gpu.throttle_clock_ratio, ratio)

    def joules(self, phase_seconds: Floats, clock_ratio: Floats) -> Floats:
        """Energy of phase seconds (P, R) at a clock ratio (R,); (R,)."""
        energy: Floats = self._table[-1] @ phase_seconds
        if (clock_ratio != self._gpu.healthy_clock_ratio).any():
            full = self._gpu.compute.watts
            scale = (clock_ratio / self._gpu.healthy_clock_ratio) ** _CLOCK_EXPONENT
            saved = full * (1.0 - _STATIC_SHARE) * (1.0 - scale)
            energy = energy - saved * (phase_seconds[FORWARD] + phase_seconds[BACKWARD])
        if self._idle is not None:
            energy = np.where(self._idle, self._gpu.idle.watts * phase_seconds.sum(axis=0), energy)
        return energy

    def read(
        self,
        parts: list[tuple[StepBlock, Window]],
        *,
        seconds: float,
        pcie: tuple[Floats, Floats],
        nvlink: tuple[Floats, Floats],
    ) -> Devices:
        """Readings of a window of this length, then one step of the thermal model.

        `pcie` and `nvlink` are (transmit, receive) in bytes per second, as seen from the GPU.
        """
        exact = sum((window.exact_seconds for _, window in parts), start=np.zeros(1)) / seconds
        ratios = self._table[:-1] @ exact
        matmul = sum((window.matmul_seconds for _, window in parts), start=np.zeros(1))
        if self._idle is not None:
            ratios, matmul = np.where(self._idle, 0.0, ratios), np.where(self._idle, 0.0, matmul)
        energy = sum(
            (self.joules(window.exact_seconds, block.clock_ratio) for block, window in parts), start=np.zeros(1)
        )
        watts = energy / seconds
        clock = self.clock_ratio * self._gpu.peak_clock_mhz
        bits = np.where(self.throttled, THROTTLE_HW_THERMAL, 0) | np.where(self.capped, THROTTLE_SW_POWER_CAP, 0)
        self._warm(watts, seconds)
        return Devices(
            gpu_util_percent=np.minimum(100.0, 100.0 * ratios[0]),
            gr_engine_active=ratios[1],
            sm_active=ratios[2],
            sm_occupancy=ratios[3],
            tensor_active=matmul / seconds,
            dram_active=ratios[4],
            fp32_active=ratios[5],
            fp16_active=np.zeros_like(watts),
            mem_copy_util_percent=np.minimum(100.0, 60.0 * ratios[4]),
            power_watts=watts,
            temperature_celsius=self.temperature.copy(),
            memory_temperature_celsius=self.temperature + _MEMORY_HOTTER_CELSIUS,
            sm_clock_mhz=clock,
            throttle_reasons=bits.astype(np.int64),
            pcie_tx_bytes_per_second=pcie[0],
            pcie_rx_bytes_per_second=pcie[1],
            nvlink_tx_bytes_per_second=nvlink[0],
            nvlink_rx_bytes_per_second=nvlink[1],
        )

    def _warm(self, watts: Floats, seconds: float) -> None:
        """First order towards ambient + R·power; the clock falls off a cliff above the limit until well below it."""
        share = 1.0 - math.exp(-seconds / self._gpu.thermal_seconds)
        target = self._ambient + self._gpu.kelvin_per_watt * self._resistance * watts
        self.temperature = self.temperature + share * (target - self.temperature)
        hot = self.temperature > self._gpu.throttle_above_celsius
        cool = self.temperature < self._gpu.throttle_until_celsius
        self.throttled = (self.throttled | hot) & ~cool
