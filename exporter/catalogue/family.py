"""The row type of the catalogue."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

Type = Literal["gauge", "counter", "histogram"]
Number = Literal["int", "double", "float"]
Scope = Literal["board", "instance", "rank", "node", "run", "self", "source", "truth"]
PageName = Literal["node", "run", "export", "truth"]

HOSTNAME = "Hostname"
"""The label that names a node. Newer dcgm-exporters write `hostname`: the source can follow, the catalogue does not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """One metric family: everything that the renderer, a parser, METRICS.md and the board tests need to know of it."""

    name: str
    """As exposed in text format; a counter of ours includes its `_total`."""
    type: Type
    unit: str
    """Unit of the exposed value; empty for a plain number."""
    help: str
    scope: Scope
    """What one value describes. Board readings repeat on every instance of a partitioned GPU and count once."""
    page: PageName
    labels: tuple[str, ...]
    """Names, in the order in which they are written."""
    number: Number = "float"
    """`int` prints `%d`, `double` prints `%f` (DCGM's spelling), `float` prints the shortest exact form."""
    scale: float = 1.0
    """Exposed units per SI unit: 1000 for mJ, 2**-20 for MiB, 100 for percent."""
    range: tuple[float, float] = (0.0, math.inf)
    """Least and greatest believable exposed value, inclusive."""
    aliases: tuple[str, ...] = ()
    """Other names under which exporters publish the same reading; accepted on input, never emitted."""
    si_aliases: tuple[str, ...] = ()
    """The same, for names whose values are in the SI unit: times `scale` they are in ours.

    A name among both changed its unit and with it its type: a whole number is in ours, one with a point in SI."""
    series: int = 1
    """Series for each member of the scope (each NIC, where `device` is a label of a node family)."""

    @property
    def openmetrics_name(self) -> str:
        """Family name under OpenMetrics, where the `_total` of a counter belongs to its sample."""
        return self.name.removesuffix("_total") if self.type == "counter" else self.name

    @property
    def openmetrics_type(self) -> str:
        """Type under OpenMetrics: a counter whose samples lack `_total` (DCGM's) can only be `unknown` there."""
        return "unknown" if self.type == "counter" and not self.name.endswith("_total") else self.type

    @property
    def sample_names(self) -> tuple[str, ...]:
        """Names of the samples that this family may have."""
        if self.type == "histogram":
            return (f"{self.name}_bucket", f"{self.name}_sum", f"{self.name}_count")
        return (self.name,)
