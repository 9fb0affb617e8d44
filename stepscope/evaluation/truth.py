"""What a right verdict on a fault would have said."""

from __future__ import annotations

from dataclasses import dataclass

from faults.effects import Topology
from faults.record import FaultRecord

_NAMES_NOBODY = frozenset({
    "network_tail_latency", "gradient_explosion", "nccl_small_buffer", "nccl_algo", "loss_plateau",
    "nan_loss", "loss_scale_collapse", "gc_pause", "checkpoint_stall", "sequence_imbalance", "shard_boundary",
})  # fmt: skip
"""Kinds that are nobody's fault: everybody's setting, the model's, or another rank's each time."""


@dataclass(frozen=True, slots=True)
class Truth:
    """One cause that was put."""

    kind: str
    detail: str
    """The mode, of a kind that has several."""
    ranks: frozenset[int]
    """Whom to name; empty for nobody."""


def truth_of(record: FaultRecord, topology: Topology) -> Truth:
    """The cause behind a fault."""
    mode = str(record.spec.params.get("mode", ""))
    ranks = frozenset(record.ranks.tolist())
    nobody = record.spec.kind in _NAMES_NOBODY or mode in ("tail", "uniform") or len(ranks) == topology.ranks
    return Truth(record.spec.kind, mode, frozenset() if nobody else ranks)
