"""The physical places at which a fault can touch the job.

The simulator asks for one `Effects` per tick, neutral at first; every active fault changes it where its cause would act
in a real cluster, and the step model does the rest. Nothing here is a metric. Composition does not depend on order:
slow-downs multiply, delays add, booleans OR, caps take the minimum. Faults are applied in sorted name order all the
same, since float products are not associative.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

MOST_SLOWDOWN = 16.0
"""All slow-downs of one rank together, those of its loader, and all factors on collectives: what is slower than this
is a hang."""
MOST_LATENESS_STEPS = 32.0
"""All delays of one batch together, in healthy steps; and so for pauses, slow starts and checkpoints of one step."""
MOST_OVERFLOW = 1e12
"""All factors on the largest fp16 value together: far beyond what any loss scale makes up for."""


@dataclass(frozen=True, slots=True)
class Topology:
    """As much of the cluster as a fault needs to know."""

    ranks: int
    gpus_per_node: int
    overlaps_nodes: bool = False
    """Whether collectives leave a node, so that the network matters."""
    scales_loss: bool = False
    """Whether the job trains in fp16, which needs its loss scaled."""
    board_watts: float = 700.0
    """Power limit that each GPU's board has of its own."""
    loader_workers: int = 0
    """Processes of each rank that prepare batches; 0 when the rank does it itself."""
    loader_prefetch: int = 0
    """Batches that each of them prepares ahead."""

    @property
    def nodes(self) -> int:
        """Number of nodes; the last one may be partly used."""
        return -(-self.ranks // self.gpus_per_node)


@dataclass(frozen=True, slots=True)
class LateBatch:
    """Every so many steps one of `ranks`, a different one as a rule, gets its batch late."""

    fault: str
    """Name of the fault: it keys the random stream that picks the rank, so that other draws are not disturbed."""
    seed: int
    ranks: NDArray[np.int64]
    lateness_steps: float
    """Lateness left after the prefetch queue is used up, in healthy steps."""
    every_steps: int = 1
    """Late are the steps whose index is a multiple of this."""


@dataclass(frozen=True, slots=True)
class CollectiveTail:
    """Every collective takes longer, in each step by another amount: the fabric has a latency tail."""

    fault: str
    seed: int
    factor: float
    """Mean factor on the time of a collective."""


@dataclass(frozen=True, slots=True)
class PauseStorm:
    """The interfaces beside `ranks` are paused and lose packets, and collectives that meet it take much longer."""

    fault: str
    seed: int
    ranks: NDArray[np.int64]
    pause_frames_per_second: float
    """That each interface receives, in the mean."""
    retransmits_per_second: float
    """That each interface sends, in the mean."""
    spike_factor: float
    """Mean factor on the time of a collective that meets the storm."""
    spike_ratio: float
    """Share of the steps that meet it."""


@dataclass(frozen=True, slots=True)
class EccError:
    """Memory of the boards of `ranks` fails, once: the driver reports it, and remaps rows."""

    fault: str
    ranks: NDArray[np.int64]
    xid: int
    """What the driver reports."""
    rows: int
    """Rows that it remaps."""
    correctable: bool


@dataclass(frozen=True, slots=True)
class Outage:
    """Something of `ranks` cannot be had in a share of the time, stretch by stretch."""

    fault: str
    seed: int
    ranks: NDArray[np.int64]
    share: float


@dataclass(frozen=True, slots=True)
class HostPath:
    """The way from host to device is longer on `ranks`: copies are slow, and each step is started late."""

    fault: str
    seed: int
    ranks: NDArray[np.int64]
    copy_factor: float
    """Mean factor on the time of a copy to the device; it varies from step to step."""
    delay_steps: float
    """Mean delay of each step, in healthy steps; it varies in the same way."""


@dataclass(frozen=True, slots=True)
class Pause:
    """The process of each of `ranks` stops for a moment, once in so many steps, each at its own time."""

    fault: str
    seed: int
    ranks: NDArray[np.int64]
    seconds: float
    every_steps: int


@dataclass(frozen=True, slots=True)
class Unevenness:
    """Batches of the same size take unequal work on `ranks`, in each step another one the most."""

    fault: str
    seed: int
    ranks: NDArray[np.int64]
    excess: float
    """Work of the most expensive batch beyond the mean one, as a share of it. On average nothing is added."""


@dataclass(frozen=True, slots=True)
class SlowCheckpoint:
    """A checkpoint is written every so many steps, and all ranks wait for the last of them to have written its part."""

    fault: str
    seed: int
    every_steps: int
    block_steps: float
    """Time of the slowest write there can be, in healthy steps."""


@dataclass(frozen=True, slots=True)
class Poison:
    """Steps meet a value that is not a number; the optimizer takes one of them, and the weights are lost."""

    fault: str
    seed: int
    chance: float
    """That a step meets one."""


@dataclass(frozen=True, slots=True)
class Instability:
    """The optimisation is unstable: gradients grow step by step and stay large while this is active."""

    fault: str
    seed: int
    intensity: float
    peak_factor: float
    """Factor on the gradient norm that intensity 1 reaches."""
    growth_steps: int
    """Steps from the first excess to the peak."""


@dataclass(slots=True)
class Effects:
    """What the active faults do to the job in one tick. Arrays have shape (ranks,)."""

    compute_slowdown: NDArray[np.float64]
    """Factor on the time of forward and backward; 1 is healthy. Slow-downs multiply."""
    batch_period_steps: NDArray[np.float64]
    """Least time between two batches of a rank's loader, in healthy steps; 0 is unlimited. Delays add to 1."""
    thermal_resistance: NDArray[np.float64]
    """Factor on the thermal resistance between board and air; 1 is healthy. They multiply."""
    power_limit_watts: NDArray[np.float64]
    """Board power limit; infinite is the board's own. The least one counts."""
    worker_slowdown: NDArray[np.float64]
    """Factor on the time that a loader's worker takes for a batch; 1 is healthy. Slow-downs multiply."""
    nic_rate: NDArray[np.float64]
    """Rate of the network interface beside each GPU over its healthy one; 1 is healthy. The least one counts."""
    staged_share: NDArray[np.float64]
    """Share of what a GPU sends and receives over the network that host memory stages; 0 with GPUDirect. The greatest
    counts."""
    hung: NDArray[np.bool_]
    """Whether the rank never arrives at the collective of a step that it begins now; its kernel spins."""
    dead: NDArray[np.bool_]
    """The same, but no kernel of it runs: its process is gone, or is stuck on the host."""
    lost: NDArray[np.bool_]
    """Whether the GPU is gone from the bus: its rank is dead, and its readings are gone."""
    refresh_seconds: NDArray[np.float64]
    """Time between two readings that the GPU's source takes; 0 is as often as it is asked. The greatest counts."""
    late_batches: list[LateBatch] = field(default_factory=list)
    collective_tails: list[CollectiveTail] = field(default_factory=list)
    """Their factors multiply."""
    pause_storms: list[PauseStorm] = field(default_factory=list)
    """Frames and retransmits add; the factors of those that one step meets multiply."""
    fabric_collapsed: bool = False
    """Whether no collective of a step that begins now ever ends."""
    ecc_errors: list[EccError] = field(default_factory=list)
    profiling_outages: list[Outage] = field(default_factory=list)
    """Profiling counters of these GPUs belong to somebody else. Any one of them is enough."""
    node_outages: list[Outage] = field(default_factory=list)
    """The nodes of these ranks do not answer a scrape. Any one of them is enough."""
    host_paths: list[HostPath] = field(default_factory=list)
    """Their factors multiply, their delays add."""
    pauses: list[Pause] = field(default_factory=list)
    """Those of one rank in one step add."""
    unevennesses: list[Unevenness] = field(default_factory=list)
    """Their factors multiply."""
    slow_checkpoints: list[SlowCheckpoint] = field(default_factory=list)
    """Writes that fall on one step add."""
    instabilities: list[Instability] = field(default_factory=list)
    poisons: list[Poison] = field(default_factory=list)
    """Any one of them is enough."""
    learning_rate_factor: float = 1.0
    """On the learning rate, 0-1. They multiply."""
    overflow_factor: float = 1.0
    """How much larger than healthy the largest fp16 value of a backward pass is. They multiply."""
    staging_slowdown: float = 1.0
    """Factor that staging puts on the transfers of the job, by the rank that stages most; 1 without. The greatest
    counts."""
    nccl_buffer_bytes: float = np.inf
    """Most that NCCL's buffers hold; infinite is the job's own size. The least counts."""
    nccl_algorithm: str = "auto"
    """Algorithm that is forced on NCCL; `ring` counts before `tree`."""
    nccl_forced_share: float = 0.0
    """Share of the collectives on which it is forced. The greatest counts."""

    is_down: bool = False
    """Whether the job is being started again, and no process of it runs."""

    @classmethod
    def neutral(cls, topology: Topology) -> Effects:
        """No fault at all."""
        ranks = topology.ranks
        return cls(
            compute_slowdown=np.ones(ranks),
            batch_period_steps=np.zeros(ranks),
            thermal_resistance=np.ones(ranks),
            power_limit_watts=np.full(ranks, np.inf),
            worker_slowdown=np.ones(ranks),
            nic_rate=np.ones(ranks),
            staged_share=np.zeros(ranks),
            hung=np.zeros(ranks, dtype=bool),
            dead=np.zeros(ranks, dtype=bool),
            lost=np.zeros(ranks, dtype=bool),
            refresh_seconds=np.zeros(ranks),
        )

    def same_as(self, other: Effects) -> bool:
        """Whether both do exactly the same to the job."""
        return _same(self, other)

    @property
    def missing(self) -> NDArray[np.bool_]:
        """(ranks,) who never arrives at the collective of a step that begins now."""
        return self.hung | self.dead | self.lost

    @property
    def stands_still(self) -> bool:
        """Whether a step that begins now never ends."""
        return self.is_down or self.fabric_collapsed or bool(self.missing.any())

    def limited(self) -> Effects:
        """These effects, no worse than a job can be while it still runs: many faults at once must not stop its time."""
        np.minimum(self.compute_slowdown, MOST_SLOWDOWN, out=self.compute_slowdown)
        np.minimum(self.worker_slowdown, MOST_SLOWDOWN, out=self.worker_slowdown)
        np.minimum(self.batch_period_steps, 1.0 + MOST_LATENESS_STEPS, out=self.batch_period_steps)
        np.maximum(self.nic_rate, 1.0 / MOST_SLOWDOWN, out=self.nic_rate)
        self.overflow_factor = min(self.overflow_factor, MOST_OVERFLOW)
        total = sum(late.lateness_steps for late in self.late_batches)
        if total > MOST_LATENESS_STEPS:
            share = MOST_LATENESS_STEPS / total
            self.late_batches = [
                replace(late, lateness_steps=late.lateness_steps * share) for late in self.late_batches
            ]
        return self


def _same(one: object, other: object) -> bool:
    """Whether two values are equal to the last bit. No copies: of large jobs there are megabytes to compare."""
    if isinstance(one, np.ndarray):
        return isinstance(other, np.ndarray) and one.dtype == other.dtype and _same_bits(one, other)
    if isinstance(one, list):
        return isinstance(other, list) and len(one) == len(other) and all(map(_same, one, other))
    if is_dataclass(one):
        names = [field.name for field in fields(one)]
        return type(one) is type(other) and all(_same(getattr(one, name), getattr(other, name)) for name in names)
    return one == other


def _same_bits(one: NDArray[Any], other: NDArray[Any]) -> bool:
    bits = f"u{one.dtype.itemsize}"
    return np.array_equal(one.view(bits), other.view(bits))
