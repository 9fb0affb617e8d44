"""The physical places at which a fault can touch the job.

The simulator asks for one `Effects` per tick, neutral at first; every active fault changes it where its cause would act
in a real cluster, and the step model does the rest. Nothing here is a metric. Composition does not depend on order:
slow-downs multiply, delays add, booleans OR, caps take the minimum. Faults are applied in sorted name order all the
same, since float products are not associative.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

MOST_SLOWDOWN = 16.0
"""All slow-downs of one rank together, and all factors on collectives: what is slower than this is a hang."""
MOST_LATENESS_STEPS = 32.0
"""All delays of one batch together, in healthy steps."""


@dataclass(frozen=True, slots=True)
class Topology:
    """As much of the cluster as a fault needs to know."""

    ranks: int
    gpus_per_node: int
    overlaps_nodes: bool = False
    """Whether collectives leave a node, so that the network matters."""
    board_watts: float = 700.0
    """Power limit that each GPU's board has of its own."""

    @property
    def nodes(self) -> int:
        """Number of nodes; the last one may be partly used."""
        return -(-self.ranks // self.gpus_per_node)


@dataclass(frozen=True, slots=True)
class LateBatch:
    """Each step one of `ranks`, a different one as a rule, gets its batch late."""

    fault: str
    """Name of the fault: it keys the random stream that picks the rank, so that other draws are not disturbed."""
    seed: int
    ranks: NDArray[np.int64]
    lateness_steps: float
    """Lateness left after the prefetch queue is used up, in healthy steps."""


@dataclass(frozen=True, slots=True)
class CollectiveTail:
    """Every collective takes longer, in each step by another amount: the fabric has a latency tail."""

    fault: str
    seed: int
    factor: float
    """Mean factor on the time of a collective."""


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
    late_batches: list[LateBatch] = field(default_factory=list)
    collective_tails: list[CollectiveTail] = field(default_factory=list)
    """Their factors multiply."""
    instabilities: list[Instability] = field(default_factory=list)

    @classmethod
    def neutral(cls, topology: Topology) -> Effects:
        """No fault at all."""
        ranks = topology.ranks
        return cls(np.ones(ranks), np.zeros(ranks), np.ones(ranks), np.full(ranks, np.inf))

    def limited(self) -> Effects:
        """These effects, no worse than a job can be while it still runs: many faults at once must not stop its time."""
        np.minimum(self.compute_slowdown, MOST_SLOWDOWN, out=self.compute_slowdown)
        np.minimum(self.batch_period_steps, 1.0 + MOST_LATENESS_STEPS, out=self.batch_period_steps)
        total = sum(late.lateness_steps for late in self.late_batches)
        if total > MOST_LATENESS_STEPS:
            share = MOST_LATENESS_STEPS / total
            self.late_batches = [
                replace(late, lateness_steps=late.lateness_steps * share) for late in self.late_batches
            ]
        return self
