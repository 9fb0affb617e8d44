"""How many series the catalogue makes, and how many it may make."""

from __future__ import annotations

from dataclasses import dataclass

from exporter.catalogue import FAMILIES, Family

PER_GPU_LIMIT = 52
PER_NODE_LIMIT = 50
PER_RUN_LIMIT = 60
"""Series scraped, per GPU, per node and per run."""


@dataclass(frozen=True, slots=True)
class Budget:
    """Series per member of each scope, for nodes with a given number of network interfaces."""

    per_gpu: int
    per_node: int
    per_run: int

    def total(self, *, gpus: int, nodes: int) -> int:
        """Series of one run."""
        return gpus * self.per_gpu + nodes * self.per_node + self.per_run


def budget(*, nics: int) -> Budget:
    """Counts from the catalogue. The truth pages are scraped by nobody who is counted."""
    return Budget(
        per_gpu=sum(family.series for family in FAMILIES if family.scope in ("board", "instance", "rank")),
        per_node=sum(_per_node(family, nics) for family in FAMILIES if family.scope == "node"),
        per_run=sum(family.series for family in FAMILIES if family.scope in ("run", "self")),
    )


def _per_node(family: Family, nics: int) -> int:
    return family.series * (nics if "device" in family.labels else 1)
