"""Which remedies are right: asked of the faults themselves, not written down."""

from __future__ import annotations

from faults.book import FaultBook
from faults.effects import Topology
from faults.errors import FaultError
from faults.record import FaultRecord
from faults.remedy import Remedy
from faults.remedy_registry import remedies
from faults.spec import FaultSpec
from faults.target import Target
from faults.treatment import RemedySpec
from stepscope.exam.marking import NO_REMEDY

OUTWEIGHED = {"dataloader_cpu": frozenset({"num_workers"})}
"""More workers make up for slow ones, although each of them stays as slow as it was."""


def ranks_hit(name: str, spec: FaultSpec, topology: Topology, *, seed: int) -> frozenset[int]:
    """The ranks that a fault of this name hits on a run of this seed. FaultError where the job cannot have it."""
    record, _ = FaultBook(topology, seed=seed).preview(name, spec, at_seconds=0.0, next_step=0)
    return frozenset(record.ranks.tolist())


def right_remedies(spec: FaultSpec, topology: Topology) -> frozenset[str]:
    """Names of those that end the fault when they are applied where it is, with the value they have by default."""
    found = {name for name, remedy in remedies().items() if _ends(spec, remedy, topology)}
    found |= OUTWEIGHED.get(spec.kind, frozenset())
    return frozenset(found) or frozenset({NO_REMEDY})


def _ends(spec: FaultSpec, remedy: Remedy, topology: Topology) -> bool:
    book = FaultBook(topology, seed=0)
    alone = FaultSpec(spec.kind, params=spec.params, target=spec.target, intensity=spec.intensity, open_ended=True)
    record, _ = book.put("one", alone, at_seconds=0.0, next_step=0)
    # A second later it acts, and every remedy acts on what has begun.
    book.advance(1.0, 1)
    value = None if remedy.setting is None else remedy.setting.default
    wanted = RemedySpec(remedy.name, value, _where(remedy, record, topology))
    try:
        _, ended = book.treat(wanted, at_seconds=1.0, next_step=1, restart_seconds=1.0)
    except FaultError:
        return False
    return bool(ended)


def _where(remedy: Remedy, record: FaultRecord, topology: Topology) -> Target | None:
    if remedy.target_modes[0] == "all":
        return None
    nodes = sorted({int(rank) // topology.gpus_per_node for rank in record.ranks})
    return Target("nodes", tuple(nodes))
