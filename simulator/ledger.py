"""The counters of a run. Time, energy and bytes accrue inside a step; steps, tokens and FLOPs move when it ends."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from faults.effects import Effects
from simulator.board_errors import BoardErrors
from simulator.collective import bus_bytes
from simulator.device import DeviceModel
from simulator.fabric import StormCounters, interface_rates, interface_shares
from simulator.job import JobSpec
from simulator.learning import LearnedStep
from simulator.names import PHASES, STEP_SECONDS_BUCKETS
from simulator.observation import Counters, Floats, RunInfo
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
        self._power = np.zeros(ranks)
        self._accrued_steps = 0.0
        self._tensor_bytes = _tensor_parallel_bytes(spec)
        self._no_traffic = np.zeros((nodes, nics))
        self.boards = BoardErrors(info)
        self._storms = StormCounters(spec.cluster, nics=nics)
        self._rerouted_bytes = self._no_traffic
        """What each interface has sent beyond its even share of what its node did."""
        self.pcie_rates = (np.zeros(ranks), np.zeros(ranks))
        self.nvlink_rates = (np.zeros(ranks), np.zeros(ranks))
        """(transmit, receive) of every GPU in the last window, bytes/s."""
        self.step_seconds = self.step_mfu = self.step_hfu = 0.0
        """Of the steps that ended in the last window that saw one end; of the running one once that takes longer."""

    def accrue(
        self,
        parts: list[tuple[StepBlock, Window]],
        devices: DeviceModel,
        *,
        held: tuple[NDArray[np.bool_], NDArray[np.bool_]],
        effects: Effects,
        tick: int,
        seconds: float,
    ) -> None:
        """Add what one window saw of each block. `held`: whose clocks temperature, and a power limit, held down.

        `effects` are those of the window; they say by which ways bytes went.
        """
        steps = 0.0
        for block, window in parts:
            self._phase_seconds = self._phase_seconds + window.accrued_seconds
            self._collective_seconds = self._collective_seconds + window.kernel_seconds
            self._energy = self._energy + devices.joules(window.resident_seconds, block.clock_ratio)
            steps += window.steps
        if held[0].any():
            self._thermal = self._thermal + np.where(held[0], seconds, 0.0)
        if held[1].any():
            self._power = self._power + np.where(held[1], seconds, 0.0)
        self._accrued_steps += steps
        rates = interface_rates(self._spec.cluster, effects) if self._info.nic_devices else None
        self.boards.update(effects, seconds=tick * seconds)
        self._storms.accrue(effects, tick=tick, seconds=seconds)
        if rates is not None:
            self._rerouted_bytes = self._rerouted_bytes + steps * self._bytes_per_nic * (interface_shares(rates) - 1.0)
        self._set_rates(steps / seconds, self._model.fabric.crossings(effects))

    def finish(self, ended: list[tuple[StepBlock, LearnedStep]]) -> None:
        """Count steps that have ended."""
        if not ended:
            return
        durations = np.array([block.durations[0] for block, _ in ended])
        for block, learned in ended:
            self._checkpoints += int(block.checkpointed[0])
            self._nonfinite += learned.nonfinite
            self._skipped += learned.skipped
            self._spikes += learned.spike
        places = np.searchsorted(self._bounds, durations)
        self._buckets = self._buckets + np.cumsum(np.bincount(places, minlength=len(self._buckets)))
        self._steps += len(ended)
        for duration in durations.tolist():
            self._step_seconds_sum += duration
        self._rate(float(durations.mean()))

    def wait(self, elapsed_seconds: float) -> None:
        """A step has been running for so long: a job that stands still must not go on showing its last good rate."""
        if elapsed_seconds > self.step_seconds > 0.0:
            self._rate(elapsed_seconds)

    def _rate(self, step_seconds: float) -> None:
        self.step_seconds = step_seconds
        rate = self._info.tokens_per_step / self.step_seconds / self._info.peak_flops_per_second
        self.step_mfu = rate * self._info.flops_per_token
        self.step_hfu = rate * self._info.hardware_flops_per_token

    def counters(self) -> Counters:
        """The totals now."""
        info = self._info
        tokens = self._steps * info.tokens_per_step
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
            collective_bytes=np.full(info.ranks, self._accrued_steps * self._model.chain.bus_bytes),
            energy_joules=self._energy,
            thermal_violation_seconds=self._thermal,
            power_violation_seconds=self._power,
            xid=self.boards.xid,
            correctable_remapped_rows=self.boards.correctable_rows,
            uncorrectable_remapped_rows=self.boards.uncorrectable_rows,
            storage_read_bytes=np.full(info.nodes, node_bytes),
            network_transmit_bytes=self._rerouted_bytes + self._accrued_steps * self._bytes_per_nic,
            network_pause_frames=self._storms.pause_frames,
            network_retransmits=self._storms.retransmits,
        )

    @property
    def _bytes_per_nic(self) -> float:
        """What each interface of a healthy node sends in a step."""
        info = self._info
        return self._model.chain.leaving_bytes * info.gpus_per_node / max(1, len(info.nic_devices))

    def _set_rates(self, steps_per_second: float, crossings: Floats | float) -> None:
        """NVLink and PCIe rates follow from the batch and from a ring that visits every GPU of a node in turn.

        Staged in host memory, a byte crosses PCIe once more on its way out and once more on its way in.
        """
        ranks, chain = self._info.ranks, self._model.chain
        leaves = chain.leaving_bytes * steps_per_second * crossings
        batch = self._spec.batch_bytes * steps_per_second
        inside = (chain.bus_bytes - chain.leaving_bytes + self._tensor_bytes) * steps_per_second
        self.pcie_rates = (np.zeros(ranks) + leaves, np.zeros(ranks) + (batch + leaves))
        self.nvlink_rates = (np.full(ranks, inside), np.full(ranks, inside))


def _tensor_parallel_bytes(spec: JobSpec) -> float:
    """Bytes that tensor parallelism moves per rank and step: four all-reduces of the activations per layer."""
    training, model = spec.training, spec.model
    layers = model.layers / training.pipeline_parallel
    activations = 2.0 * spec.tokens_per_micro_batch * model.hidden
    return 4.0 * layers * training.gradient_accumulation * bus_bytes(activations, training.tensor_parallel)
