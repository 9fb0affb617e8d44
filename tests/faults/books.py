"""A book of faults with a clock of its own, and words to talk about it."""

from __future__ import annotations

from typing import Any

from faults.book import FaultBook
from faults.effects import Topology
from faults.spec import FaultSpec
from faults.target import Target

NODE = Topology(4, 4)
SLOW = FaultSpec("straggler", target=Target("ranks", (2,)), open_ended=True)


def book(topology: Topology = NODE, **options: Any) -> FaultBook:
    """An empty book."""
    return FaultBook(topology, seed=1, now=lambda: 1_700_000_000.0, **options)


def timed(kind: str = "straggler", **fields: Any) -> FaultSpec:
    """A fault that lasts until it is cleared, unless it says for how long."""
    return FaultSpec.from_mapping({"kind": kind, "open_ended": "duration_seconds" not in fields, **fields})


def happened(faults: FaultBook) -> list[tuple[str, str]]:
    """(name, event) of everything that has happened since this was last asked."""
    return [(event.name, event.event) for event in faults.drain_events()]
