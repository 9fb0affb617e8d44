"""Whom a fault hits: a wish (`one`, `25 percent`, `nodes 0 and 3`) and the ranks that it comes to on a cluster."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, cast, get_args

import numpy as np
from numpy.typing import NDArray

from faults.checks import Checker, Range
from faults.effects import Topology
from faults.errors import FaultError

Mode = Literal["all", "one", "count", "percent", "ranks", "nodes"]
MODES: tuple[Mode, ...] = get_args(Mode)
SHOWN = 8
"""Ranks or nodes that `describe` spells out at most."""


@dataclass(frozen=True, slots=True)
class Target:
    """Which ranks a fault hits.

    `value` is nothing for `all` and `one`, a number of ranks for `count`, a share of them for `percent` (above 0, up to
    100; at least one rank), and indices for `ranks` and `nodes`. `nodes` without a value is one node. What is not
    named is chosen by the seed, and so that the choice of a smaller count is contained in that of a larger one.
    """

    mode: Mode
    value: float | tuple[int, ...] | None = None

    @classmethod
    def checked(cls, raw: object, check: Checker, *, pointer: str = "/target") -> Target | None:
        """The target that a JSON value describes; None when it describes none. `check` notes all that is wrong."""
        members = check.members(raw, pointer, ("mode", "value"), of="target")
        if members is None:
            return None
        mode = check.choice(members.get("mode"), f"{pointer}/mode", MODES)
        if mode is None:
            return None
        return cls._with_value(cast("Mode", mode), members.get("value"), check, f"{pointer}/value")

    @classmethod
    def _with_value(cls, mode: Mode, value: object, check: Checker, pointer: str) -> Target | None:
        if mode in ("all", "one"):
            if value is None:
                return cls(mode)
            check.add(pointer, f"must be left out when mode is {mode}")
            return None
        if mode == "nodes" and value is None:
            return cls(mode)
        clean: float | tuple[int, ...] | None
        if mode == "count":
            clean = check.integer(value, pointer, Range(1))
        elif mode == "percent":
            clean = check.number(value, pointer, Range(0, 100, above=True))
        else:
            clean = _indices(value, check, pointer, mode)
        return None if clean is None else cls(mode, clean)

    def to_mapping(self) -> dict[str, object]:
        """As JSON, the way `checked` takes it."""
        if self.value is None:
            return {"mode": self.mode}
        return {"mode": self.mode, "value": list(self.value) if isinstance(self.value, (list, tuple)) else self.value}

    def resolve(self, topology: Topology, seed: int) -> NDArray[np.int64]:
        """The ranks hit, sorted. FaultError at /target/value when the cluster has no such ranks or nodes."""
        if self.mode == "all":
            return np.arange(topology.ranks, dtype=np.int64)
        if self.mode == "ranks":
            return self._named(topology.ranks, "ranks")
        if self.mode == "nodes":
            nodes = _draw(topology.nodes, 1, seed) if self.value is None else self._named(topology.nodes, "nodes")
            return np.flatnonzero(np.isin(np.arange(topology.ranks) // topology.gpus_per_node, nodes))
        return _draw(topology.ranks, self._wanted(topology.ranks), seed)

    def _wanted(self, ranks: int) -> int:
        """How many of `ranks` are meant by one, count or percent."""
        if self.mode == "one":
            return 1
        assert isinstance(self.value, (int, float)), "checked targets of this mode carry a number"
        if self.mode == "percent":
            return max(1, math.floor(ranks * self.value / 100 + 0.5))
        if self.value > ranks:
            raise FaultError.at("/target/value", f"must be at most {ranks}, the number of ranks of this job")
        return int(self.value)

    def _named(self, available: int, what: str) -> NDArray[np.int64]:
        assert isinstance(self.value, (list, tuple)), "checked targets of this mode carry indices"
        if max(self.value) >= available:
            raise FaultError.at("/target/value", f"{what} of this job go from 0 to {available - 1}")
        return np.unique(np.asarray(self.value, dtype=np.int64))

    def describe(self, ranks: NDArray[np.int64], topology: Topology) -> str:
        """Short text for a log or a label: who `ranks`, the outcome of `resolve`, are."""
        if self.mode == "all":
            return "all"
        if self.mode == "nodes":
            return _text("nodes", np.unique(ranks // topology.gpus_per_node))
        return _text("ranks", ranks)


def _indices(value: object, check: Checker, pointer: str, what: str) -> tuple[int, ...] | None:
    if not isinstance(value, (list, tuple)) or not value:
        check.add(pointer, f"must be a non-empty array of {what}, counted from 0")
        return None
    found = [check.integer(item, f"{pointer}/{position}", Range(0)) for position, item in enumerate(value)]
    clean = sorted({item for item in found if item is not None})
    if None in found:
        return None
    if len(clean) < len(found):
        check.add(pointer, f"must name none of the {what} twice")
        return None
    return tuple(clean)


def _draw(available: int, wanted: int, seed: int) -> NDArray[np.int64]:
    """`wanted` different indices below `available`, sorted. A larger draw contains every smaller one."""
    keys = np.random.Generator(np.random.Philox(key=seed)).random(available)
    return np.sort(np.argsort(keys, kind="stable")[:wanted].astype(np.int64))


def _text(what: str, indices: NDArray[np.int64]) -> str:
    shown = "+".join(str(index) for index in indices[:SHOWN])
    return f"{what}={shown}" + (f" and {len(indices) - SHOWN} more" if len(indices) > SHOWN else "")
