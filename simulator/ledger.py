"""The counters of a run. Time, energy and bytes accrue inside a step; steps, tokens and FLOPs move when it ends."""

from __future__ import annotations

import numpy as np

from simulator.device import DeviceModel
from simulator.job import JobSpec
from simulator.learning import LearnedStep
from simulator.observation import PHASES, STEP_SECONDS_BUCKETS, Counters, RunInfo
from simulator.timeline import StepBlock, StepModel
from simulator.windows import Window


class Ledger:
    """Running totals. Arrays are replaced, never changed in place: ticks keep the ones they were given."""

    def __init__(self, spec: JobSpec, info: RunInfo, model: StepModel) -> None:
        ranks, nodes, nics = spec.ranks, spec.cluster.nodes, len(info.nic_devices)
        self._spec, self._info, self._model = spec, info, model
        self._bounds = np.array(STEP_SECONDS_BUCKETS)
        self._steps = 0
        self._step_seconds_sum = 0.0
        self._buckets = np.zeros(len(STEP_SECONDS_BUCKETS) + 1, dtype=np.int64)
        self._checkpoints = self._nonfinite = self._skipped = self._spikes = 0
        self._phase_seconds = np.zeros((len(PHASES), ranks))
        self._collective_seconds = np.zeros(ranks)
        self._energy = np.zeros(ranks)
        self._thermal = np.zeros(ranks)
        self._accrued_steps = 0.0
        self._no_traffic = np.zeros((nodes, nics))
        self.pcie_rates = (np.zeros(ranks), np.zeros(ranks))
        self.nvlink_rates = (np.zeros(ranks), np.zeros(ranks))
        """(transmit, receive) of every GPU in the last window, bytes/s."""
        self.step_seconds = self.step_mfu = self.step_hfu = 0.0
        """Of the steps that ended in the last window that saw one end."""

    def accrue(
        self,
        parts: list[tuple[StepBlock, Window]],
        devices: DeviceModel,
        *,
        throttled: np.ndarray[tuple[int], np.dtype[np.bool_]],
        seconds: float,
    ) -> None:
        """Add what one window saw of each block."""
        steps = 0.0
        for block, window in parts:
            self._phase_seconds = self._phase_seconds + window.accrued_seconds
            self._collective_seconds = self._collective_seconds + window.kernel_seconds
            self._energy = self._energy + devices.joules(window.accrued_seconds, block.clock_ratio)
            steps += window.steps
        if throttled.any():
            self._thermal = self._thermal + np.where(throttled, seconds, 0.0)
        self._accrued_steps += steps
        self._set_rates(steps / seconds)

    def finish(self, ended: list[tuple[StepBlock, LearnedStep]]) -> None:
        """Count steps that have ended."""
        if not ended:
            return
        durations = np.array([block.durations[0] for block, _ in ended])
        for block, learned in ended:
            self._checkpoints += self._model.is_checkpoint(block.first_step)
            self._nonfinite += learned.nonfinite
            self._skipped += learned.skipped
            self._spikes += learned.spike
        places = np.searchsorted(self._bounds, durations)
        self._buckets = self._buckets + np.cumsum(np.bincount(places, minlength=len(self._buckets)))
        self._steps += len(ended)
        for duration in durations.tolist():
            self._step_seconds_sum += duration
        self.step_seconds = float(durations.mean())
        rate = self._info.tokens_per_step / self.step_seconds / self._info.peak_flops_per_second
        self.step_mfu = rate * self._info.flops_per_token
        self.step_hfu = rate * self._info.hardware_flops_per_token

    def counters(self) -> Counters:
        """The totals now."""
        info = self._info
        tokens = self._steps * info.tokens_per_step
        nics = max(1, len(info.nic_devices))
        bus = self._model.chain.bus_bytes
        node_bytes = self._accrued_steps * self._spec.batch_bytes * info.gpus_per_node
        return Counters(
            steps=self._steps,
            tokens=tokens,
            samples=self._steps * info.samples_per_step,
            model_flops=tokens * info.flops_per_token,
            hardware_flops=tokens * info.hardware_flops_per_token,
            step_seconds_sum=self._step_seconds_sum,
            step_seconds_buckets=self._buckets,
            checkpoints=self._checkpoints,
            nonfinite_steps=self._nonfinite,
            skipped_steps=self._skipped,
            grad_norm_spikes=self._spikes,
            phase_seconds=self._phase_seconds,
            collective_seconds=self._collective_seconds,
            collective_bytes=np.full(info.ranks, self._accrued_steps * bus),
            energy_joules=self._energy,
            thermal_violation_seconds=self._thermal,
            power_violation_seconds=np.zeros(info.ranks),
            storage_read_bytes=np.full(info.nodes, node_bytes),
            network_transmit_bytes=self._no_traffic + self._accrued_steps * bus / nics,
            network_pause_frames=self._no_traffic,
            network_retransmits=self._no_traffic,
        )

    def _set_rates(self, steps_per_second: float) -> None:
        """NVLink and PCIe rates follow from the batch and from a ring that visits every GPU of a node in turn."""
        info, ranks = self._info, self._info.ranks
        bus = self._model.chain.bus_bytes * steps_per_second
        leaves = bus / info.gpus_per_node if info.nodes > 1 else 0.0
        batch = self._spec.batch_bytes * steps_per_second
        self.pcie_rates = (np.full(ranks, leaves), np.full(ranks, batch + leaves))
        self.nvlink_rates = (np.full(ranks, bus - leaves), np.full(ranks, bus - leaves))
