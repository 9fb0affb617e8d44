"""One run of one job: advances a second at a time and says everything that can be observed of it.

Faults, intensities and clocks are fixed at each tick for all steps that start in it; a running step finishes.
Nothing here knows the wall clock: whoever calls `advance` decides how fast seconds pass.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import fields, replace
from typing import TypeVar

import numpy as np

from faults.book import FaultBook
from faults.effects import Effects, Topology
from simulator.board_errors import KernelLine
from simulator.device import DeviceModel
from simulator.identity import describe
from simulator.job import JobSpec
from simulator.learning import LearnedStep, LearningModel
from simulator.ledger import Ledger
from simulator.loader import LoaderQueue
from simulator.monitoring import MonitoringPath
from simulator.observation import Counters, Devices, FaultView, Floats, Learning, Monitoring, StepTrace, Tick
from simulator.standstill import standing
from simulator.timeline import Conditions, StepBlock, StepModel
from simulator.traced import trace
from simulator.windows import integrate

T = TypeVar("T", Devices, Counters)
TICK_SECONDS = 1.0
_MOST_STEPS_AT_ONCE = 1_024


def topology_of(spec: JobSpec) -> Topology:
    """The cluster as faults see it."""
    cluster = spec.cluster
    return Topology(
        spec.ranks,
        cluster.gpus_per_node,
        spec.overlaps_nodes,
        scales_loss=spec.training.precision == "fp16",
        board_watts=cluster.gpu.tdp_watts,
        loader_workers=spec.loader.workers,
        loader_prefetch=spec.loader.prefetch_factor,
    )


class Run:
    """State of one run. Not thread-safe: one writer advances it, readers keep the ticks it returns."""

    def __init__(
        self,
        spec: JobSpec,
        *,
        seed: int,
        run: str,
        start_timestamp: float = 0.0,
        faults: FaultBook | None = None,
        full_queues: bool = True,
        shown_seed: int | None = None,
    ) -> None:
        """`shown_seed` is what `info` says instead of `seed`."""
        self.spec = spec
        self.topology = topology_of(spec)
        self.faults = FaultBook(self.topology, seed=seed) if faults is None else faults
        self.info = describe(spec, run=run, seed=seed if shown_seed is None else shown_seed)
        self.model = StepModel(spec, seed=seed)
        healthy = np.full(spec.ranks, spec.cluster.gpu.healthy_clock_ratio)
        calm = Conditions(healthy, Effects.neutral(self.topology))
        dequeue = np.full((1, spec.ranks), spec.loader.dequeue_seconds)
        self._devices = DeviceModel(spec, seed=seed, first_step=self.model.steps(0, waits=dequeue, conditions=calm))
        self._loader = LoaderQueue(
            spec.loader,
            ranks=spec.ranks,
            healthy_step_seconds=self.model.healthy_step_seconds,
            full=full_queues,
        )
        self._learning = LearningModel(spec, seed=seed)
        self._ledger = Ledger(spec, self.info, self.model)
        self._path = MonitoringPath(ranks=spec.ranks, gpus_per_node=spec.cluster.gpus_per_node)
        self._start_timestamp = start_timestamp
        self._index = 0
        self._next_step = 0
        self._next_start = 0.0
        self._running: list[StepBlock] = []
        self._stands_still = False
        self._down_until = 0.0
        self._is_down = False
        self._learned: deque[LearnedStep] = deque()
        self._last = Learning(math.nan, math.nan, self._learning.learning_rate, 1.0)
        self._last_step: StepTrace | None = None
        self.ended: list[tuple[StepBlock, LearnedStep]] = []
        """Steps that ended in the last tick, one block each."""

    @property
    def seconds(self) -> float:
        """Simulated seconds since the run began."""
        return self._index * TICK_SECONDS

    @property
    def next_step(self) -> int:
        """Index of the first step that a change made now can still affect."""
        return self._next_step

    @property
    def stands_still(self) -> bool:
        """Whether the step in progress never ends: it begins again once the cause is gone."""
        return self._stands_still

    @property
    def running_step_seconds(self) -> float:
        """How long the step in progress will have taken, known from its start on; of one that never ends, until now.

        For a run that has begun.
        """
        step = self._running[0]
        return self.seconds - float(step.starts[0]) if self._stands_still else float(step.durations[0])

    def shift_clock(self, seconds: float) -> None:
        """The wall clock was set, or slept: later ticks carry later (or earlier) Unix times. Simulated time stays."""
        self._start_timestamp += seconds

    def restore_checkpoint(self) -> None:
        """Put the model back to its last good checkpoint and begin the running step again, however long it would take.

        A restart under way is over. Time, counters and devices go on.
        """
        self._down_until = self.seconds
        self._learning.restore_checkpoint()
        self._begin_again()

    def restart(self, seconds: float) -> None:
        """Stop every process of the job now, and begin again from the last good checkpoint after so many seconds."""
        self.restore_checkpoint()
        self._down_until = self.seconds + seconds

    def _begin_again(self) -> None:
        """Begin the running step anew, now."""
        if self._running:
            self._next_step = self._running[0].first_step
            self._next_start = self.seconds
            self._running = []
            self._learned.clear()
        self._stands_still = False

    def heat(self) -> bool:
        """Warm the boards as its faults of now would in minutes; whether their clocks may go on changing all the same.

        For a run that has not begun.
        """
        return self._devices.heat(self.faults.effects(self.seconds))

    def advance(self) -> Tick:
        """Simulate the next second and return it."""
        begin, end = self.seconds, self.seconds + TICK_SECONDS
        self.faults.advance(begin, self._next_step)
        effects = self.faults.effects(begin).limited()
        effects.is_down = begin < self._down_until
        back = self._is_down and not effects.is_down
        self._is_down = effects.is_down
        if back or (self._stands_still and not effects.stands_still):
            self._begin_again()
        self._devices.apply(effects)
        conditions = Conditions(self._devices.clock_ratio, effects)
        held = (self._devices.throttled, self._devices.capped)
        self._plan(end, conditions)
        parts = [(block, integrate(block, begin, end)) for block in self._running]
        self.ended = self._settle(begin, end)
        self._ledger.accrue(parts, self._devices, held=held, effects=effects, tick=self._index, seconds=TICK_SECONDS)
        self._ledger.finish(self.ended)
        if self._running and not self.ended:
            self._ledger.wait(end - float(self._running[0].starts[0]))
        read = self._devices.read(
            parts, seconds=TICK_SECONDS, pcie=self._ledger.pcie_rates, nvlink=self._ledger.nvlink_rates
        )
        devices, counters = frozen(read), frozen(self._ledger.counters())
        self._index += 1
        last_end = 0.0
        if self._last_step is not None:
            last_end = self._start_timestamp + self._last_step.start_seconds + self._last_step.duration_seconds
        return Tick(
            info=self.info,
            index=self._index - 1,
            seconds=end,
            timestamp=self._start_timestamp + end,
            next_step=self._next_step,
            devices=devices,
            counters=counters,
            learning=self._last,
            queue_batches=self._loader.visible_batches(self._next_step, at_seconds=end, effects=effects),
            step_mfu=self._ledger.step_mfu,
            step_hfu=self._ledger.step_hfu,
            step_seconds=self._ledger.step_seconds,
            last_step=self._last_step,
            last_step_timestamp=last_end,
            faults=tuple(FaultView(*view) for view in self.faults.active_views(begin)),
            monitoring=self._seen(devices, counters, effects, end),
        )

    def _seen(self, devices: Devices, counters: Counters, effects: Effects, end: float) -> Monitoring | None:
        """What the monitoring shows of the tick that ends now; None when that is what is."""
        seen = self._path.see(devices, counters, effects, seconds=end)
        if seen is not None:
            frozen(seen.devices)
            frozen(seen.counters)
        return seen

    def drain_kernel_log(self) -> Sequence[KernelLine]:
        """What the drivers have said since the last call."""
        return self._ledger.boards.drain()

    def _plan(self, until: float, conditions: Conditions) -> None:
        """Compute every step that starts before `until`."""
        while self._next_start < until:
            if conditions.effects.stands_still:
                self._stop(conditions)
                return
            block = self._plan_freely(until, conditions) or self._plan_one(conditions)
            self._next_start = float(block.starts[-1] + block.durations[-1])
            self._running.append(block)
            for step, checkpointed in enumerate(block.checkpointed.tolist(), start=self._next_step):
                self._learned.append(self._learning.step(step, conditions.effects))
                if checkpointed:
                    self._learning.save_checkpoint()
            self._next_step += len(block)

    def _stop(self, conditions: Conditions) -> None:
        """Begin a step that never ends. Nothing is learned from it, and it stays the next one to begin."""
        block = standing(self._plan_one(conditions), conditions.effects)
        self._next_start = float(block.starts[0] + block.durations[0])
        self._running.append(block)
        self._stands_still = True

    def _plan_freely(self, until: float, conditions: Conditions) -> StepBlock | None:
        """As many steps at once as start before `until`, when none of them can find its queue empty."""
        healthy = self.model.healthy_step_seconds
        if not self._loader.never_waits(conditions.effects, math.inf):
            return None
        count = min(_MOST_STEPS_AT_ONCE, 2 + int((until - self._next_start) / healthy))
        waits = np.full((count, self.spec.ranks), self.spec.loader.dequeue_seconds)
        block = self._placed(self.model.steps(self._next_step, waits=waits, conditions=conditions))
        if not self._loader.never_waits(conditions.effects, float(block.durations.min())):
            return None
        block = block.part(0, int(np.searchsorted(block.starts, until)))
        self._loader.take_without_waiting(block.starts, conditions.effects)
        return block

    def _plan_one(self, conditions: Conditions) -> StepBlock:
        waits = self._loader.take(self._next_step, at_seconds=self._next_start, effects=conditions.effects)
        return self._placed(self.model.steps(self._next_step, waits=waits[None, :], conditions=conditions))

    def _placed(self, block: StepBlock) -> StepBlock:
        """The block with its starts on the run's time line, added up one by one whatever the block's size."""
        starts: Floats = np.cumsum(np.concatenate(([self._next_start], block.durations[:-1])))
        return replace(block, starts=starts)

    def _settle(self, begin: float, end: float) -> list[tuple[StepBlock, LearnedStep]]:
        """Steps that ended in the window, one by one; what runs on stays for the next tick."""
        ended: list[tuple[StepBlock, LearnedStep]] = []
        still: list[StepBlock] = []
        for block in self._running:
            ends = block.starts + block.durations
            done = int(np.searchsorted(ends, end, side="right"))
            ended += [(block.part(index, index + 1), self._learned.popleft()) for index in range(done)]
            if done < len(block):
                still.append(block.part(done, len(block)))
        self._running = still
        if ended:
            step, learned = ended[-1]
            self._last = learned.values
            self._last_step = trace(step, self.model)
        return ended


def frozen(readings: T) -> T:
    """The same readings with every array made read-only: many readers share them."""
    for field in fields(readings):
        value = getattr(readings, field.name)
        if isinstance(value, np.ndarray):
            value.setflags(write=False)
    return readings
