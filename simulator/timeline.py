"""The timeline of steps: when each rank is in which phase.

All ranks start a step together, since all left the last collective together and what follows it lasts equally on all.
Shapes: n = steps computed at once, P = phases, R = ranks.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from faults.effects import MOST_SLOWDOWN, Effects, Topology
from simulator.fabric import Fabric
from simulator.host import Hosts, HostShare
from simulator.job import JobSpec
from simulator.names import PHASES
from simulator.observation import Floats
from simulator.overlap import Chain, kernel_seconds
from simulator.streams import FaultStreams, StepStream, gamma_rows, generator, normal_rows, uniform_rows

DATA_WAIT, H2D, FORWARD, BACKWARD, COLLECTIVE_WAIT, COLLECTIVE, OPTIMIZER, CHECKPOINT, STALL = range(len(PHASES))


@dataclass(frozen=True, slots=True)
class Conditions:
    """What holds for every step that starts in one tick."""

    clock_ratio: Floats
    """(R,) SM clock over the clock at which the peak is quoted."""
    effects: Effects


@dataclass(frozen=True, slots=True)
class StepBlock:
    """Consecutive steps under the same conditions."""

    first_step: int
    starts: Floats
    """(n,) seconds since the run began."""
    durations: Floats
    """(n,)"""
    phases: Floats
    """(n, P, R) seconds; along P they add up to the duration."""
    matmul_seconds: Floats
    """(n, 2, R) time that forward and backward would take at the full peak of the running clock."""
    kernel_seconds: Floats
    """(n, R) time inside collective kernels."""
    arrivals: Floats
    """(n, R) arrival at the barrier, seconds after the step began."""
    clock_ratio: Floats
    """(R,)"""
    checkpointed: NDArray[np.bool_]
    """(n,) whether the step ends with a checkpoint."""
    chain: Chain
    """The collectives of each step, on an idle fabric under these conditions."""
    windows: Floats
    """(n, R) length of the compute that collectives may run beside; it ends at the arrival."""
    scale: Floats
    """(n, 1) factor on the time of every collective of a step."""
    gaps: Floats | None = None
    """(n, R) seconds of forward in which the host launches nothing, so that its GPU idles; None for none."""

    def part(self, begin: int, end: int) -> StepBlock:
        """Steps begin … end - 1 of this block, sharing its arrays."""
        return StepBlock(
            self.first_step + begin,
            self.starts[begin:end],
            self.durations[begin:end],
            self.phases[begin:end],
            self.matmul_seconds[begin:end],
            self.kernel_seconds[begin:end],
            self.arrivals[begin:end],
            self.clock_ratio,
            self.checkpointed[begin:end],
            self.chain,
            self.windows[begin:end],
            self.scale[begin:end],
            None if self.gaps is None else self.gaps[begin:end],
        )

    def __len__(self) -> int:
        return len(self.starts)


class StepModel:
    """Phase durations as a function of the job, the conditions and the step index. Holds no state of the run."""

    def __init__(self, spec: JobSpec, *, seed: int) -> None:
        self.spec = spec
        training, gpu = spec.training, spec.cluster.gpu
        # At clock ratio 1. FLOPs split one third forward, two thirds backward, whatever the times are (frozen: halves).
        whole, peak = spec.flops_over_forward, spec.peak_flops_per_rank
        share = spec.tokens_per_micro_batch * spec.flops_per_token / whole / peak / spec.model_ranks
        again = 1.0 if training.recompute else 0.0
        self._forward = share / training.compute_efficiency
        self._backward = self._forward * (training.backward_ratio + again)
        self._matmul = np.array([share, share * (whole - 1.0 + again)]) * training.gradient_accumulation
        copy = 0.0 if spec.loader.device_prefetch else spec.batch_bytes / gpu.pcie_bytes_per_second
        self._hosts = Hosts(ranks=spec.ranks, copy_seconds=copy)
        shard = spec.ranks if training.strategy == "fsdp" or training.sharded_optimizer else spec.model_ranks
        traffic = spec.model.parameters * training.optimizer_bytes_per_parameter / shard
        self._optimizer = traffic / (0.8 * gpu.hbm_bytes_per_second)
        self.fabric = Fabric(spec)
        self.chain = self.fabric.healthy
        """The collectives of one step without faults."""
        micro = training.gradient_accumulation
        self._bubble = (training.pipeline_parallel - 1) / (training.virtual_stages * micro)
        """Pipeline bubble over the compute of the slowest rank."""
        spread = spec.noise.chip_spread
        self._chip = 1.0 + spread * (2.0 * generator(seed, "chip spread").random(spec.ranks) - 1.0)
        self._jitter = StepStream(seed, "jitter", width=spec.ranks, draw=normal_rows)
        self._common = StepStream(seed, "common jitter", width=1, draw=normal_rows)
        self._stall = StepStream(seed, "stall", width=2, draw=uniform_rows)
        self._tails = FaultStreams("collective tail", gamma_rows)
        self._storms = FaultStreams("pause storm", uniform_rows)
        healthy = np.full(spec.ranks, gpu.healthy_clock_ratio)
        self._healthy_step = 0.0
        calm = Conditions(healthy, Effects.neutral(Topology(spec.ranks, spec.cluster.gpus_per_node)))
        dequeue = spec.loader.dequeue_seconds + (spec.loader.service_seconds if spec.loader.workers == 0 else 0.0)
        waits = np.full((1, spec.ranks), dequeue)
        quiet = self._timeline(calm, waits, np.ones((1, spec.ranks)), 1.0, 0, np.zeros(1), self._hosts.calm)
        self._healthy_step = float(quiet.durations[0] - quiet.phases[0, CHECKPOINT, 0])

    @property
    def healthy_step_seconds(self) -> float:
        """Step time without faults, jitter, stalls and checkpoints: the unit of delays given in healthy steps."""
        return self._healthy_step

    def bubble_seconds(self, step: StepBlock) -> float:
        """Time of the pipeline that fills and drains in a block of one step."""
        return self._bubble * float((step.phases[0, FORWARD] + step.phases[0, BACKWARD]).max())

    def steps(self, first: int, *, waits: Floats, conditions: Conditions) -> StepBlock:
        """Steps first … first + n - 1 with these data waits, shape (n, R); `starts` are relative to the first one."""
        count, noise = len(waits), self.spec.noise
        jitter = np.ones(waits.shape)
        for cv, stream in ((noise.jitter_cv, self._jitter), (noise.step_cv, self._common)):
            if cv:
                jitter = jitter * np.exp(cv * stream.rows(first, count) - 0.5 * cv * cv)
        effects = conditions.effects
        scale = self._collective_scale(effects, first, count)
        host = self._hosts.share(effects, first, count, healthy_step_seconds=self._healthy_step)
        return self._timeline(conditions, waits, jitter, scale, first, self._stalls(first, count), host)

    def _timeline(
        self,
        conditions: Conditions,
        waits: Floats,
        jitter: Floats,
        scale: Floats | float,
        first: int,
        stalls: Floats,
        host: HostShare,
    ) -> StepBlock:
        training, chain = self.spec.training, self.fabric.chain(conditions.effects)
        micro = training.gradient_accumulation
        load = np.minimum(conditions.effects.compute_slowdown * host.work, MOST_SLOWDOWN)
        pace = jitter * (self._chip * load / conditions.clock_ratio)
        forward, backward = self._forward * micro * pace, self._backward * micro * pace
        head = waits + host.copying
        if host.pauses is not None:
            head = head + host.pauses
        if training.strategy == "fsdp":
            window = forward + backward
            dilated = chain.dilate(window, scale)
            stretch = dilated / window
            forward, backward = forward * stretch, backward * stretch
            start = head
        else:
            # Only the last micro-batch's backward has collectives beside it.
            window = self._backward * pace
            dilated = chain.dilate(window, scale)
            backward = backward + (dilated - window)
            start = head + forward + (backward - dilated)
        arrival = start + dilated
        barrier = arrival.max(axis=1)
        end = np.maximum(barrier, (start + chain.end_after_start(dilated, scale)).max(axis=1))
        phases = np.zeros((len(waits), len(PHASES), self.spec.ranks))
        phases[:, DATA_WAIT] = waits
        phases[:, H2D] = host.copying
        phases[:, FORWARD] = forward if host.pauses is None else forward + host.pauses
        phases[:, BACKWARD] = backward
        bubble = self._bubble * (forward + backward).max(axis=1)
        phases[:, COLLECTIVE_WAIT] = barrier[:, None] - arrival + bubble[:, None]
        phases[:, COLLECTIVE] = (end - barrier)[:, None]
        phases[:, OPTIMIZER] = self._optimizer
        written, waiting, due = self._checkpoints(first, len(waits), host)
        phases[:, CHECKPOINT] = written
        phases[:, COLLECTIVE_WAIT] += waiting
        phases[:, STALL] = stalls[:, None]
        durations = end + bubble + self._optimizer + written.max(axis=1) + stalls
        off = np.abs(phases.sum(axis=1) - durations[:, None])
        assert (off <= 1e-9 * durations[:, None]).all(), "phases must add up to the step"
        assert phases.min() >= 0.0, "no phase may be negative"
        starts = np.cumsum(np.concatenate(([0.0], durations[:-1])))
        work = host.work if isinstance(host.work, float) else host.work[:, None, :]
        matmul = self._matmul[None, :, None] / conditions.clock_ratio * np.ones((len(waits), 1, 1)) * work
        kernels = kernel_seconds(chain, start, dilated, arrival, end, scale) + bubble[:, None] + waiting
        return StepBlock(
            first, starts, durations, phases, matmul, kernels, arrival, conditions.clock_ratio,
            due, chain, dilated, np.broadcast_to(scale, (len(waits), 1)), host.pauses,
        )  # fmt: skip

    def _collective_scale(self, effects: Effects, first: int, count: int) -> Floats | float:
        """Factor on the time of every collective of each step, (n, 1); 1 on a calm fabric."""
        scale: Floats | float = 1.0
        for tail in effects.collective_tails:
            scale = scale * (1.0 + (tail.factor - 1.0) * self._tails.rows(tail.fault, tail.seed, first, count))
        for storm in effects.pause_storms:
            draws = self._storms.rows(storm.fault, storm.seed, first, count) / storm.spike_ratio
            # Below 1 a draw is uniform again: the height of a spike is exponential, with this mean.
            heights = -np.log(np.clip(draws, 1e-12, 1.0))
            scale = scale * (1.0 + (storm.spike_factor - 1.0) * heights)
        calm = not (effects.collective_tails or effects.pause_storms)
        return scale if calm else np.minimum(scale, self.fabric.most_scale(effects))

    def _checkpoints(self, first: int, count: int, host: HostShare) -> tuple[Floats, Floats | float, NDArray[np.bool_]]:
        """Seconds in which ranks write, and in which they wait for the last one; whether a step ends with a checkpoint.

        Shapes (n, R) or (n, 1), the same or a number, and (n,). Who has written spins in a barrier.
        """
        every = self.spec.training.checkpoint_every_steps
        due = np.zeros(count, dtype=bool)
        if every:
            due = (np.arange(first + 1, first + count + 1) % every) == 0
        own = np.where(due, self.spec.training.checkpoint_seconds, 0.0)[:, None]
        if host.writes is None:
            return own, 0.0, due
        last = host.writes.max(axis=1, keepdims=True)
        return own + host.writes, last - host.writes, due | (last[:, 0] > 0.0)

    def _stalls(self, first: int, count: int) -> Floats:
        noise = self.spec.noise
        if noise.stall_rate == 0.0:
            return np.zeros(count)
        draws = self._stall.rows(first, count)
        # Short stalls are common and long ones rare: the logs' mean square is that of a density falling as 1/x².
        least, most = noise.stall_factor_low - 1.0, noise.stall_factor_high - 1.0
        excess = least * most / (most - (most - least) * draws[:, 1])
        return np.where(draws[:, 0] < noise.stall_rate, excess * self._healthy_step, 0.0)
