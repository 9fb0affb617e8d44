"""Values on their way into a reading: believed or dropped, rounded as their family wants them."""

from __future__ import annotations

from dataclasses import dataclass, field

from exporter.catalogue import DCGM_FAMILIES
from exporter.reading import Labels, Sample

BLANK = "blank"
OUT_OF_RANGE = "range"
DROP_REASONS = (BLANK, OUT_OF_RANGE)

_TOLERANCE = 1.01
"""A value this much above its greatest is rounding, and cut; beyond it is not believed."""

_LIMITS = {
    family.name: (family.range[0], family.range[1], family.range[1] * _TOLERANCE, family.number == "int")
    for family in DCGM_FAMILIES
}


@dataclass(frozen=True, slots=True)
class Place:
    """Whose a value is: a board, or a partition of one."""

    gpu: str
    """`Gpu.key` of the board."""
    labels: Labels
    instance: str = ""
    """GPU_I_ID of the partition."""


@dataclass(slots=True)
class Samples:
    """Samples of one board in one cycle."""

    families: dict[str, list[Sample]] = field(default_factory=dict)
    """By name of the family."""
    dropped: dict[str, int] = field(default_factory=dict)
    """Values that were there and not believed, by reason."""

    def add(self, family: str, value: int | float, place: Place) -> None:
        """One value in exposed units."""
        lowest, greatest, tolerated, whole = _LIMITS[family]
        if not lowest <= value <= tolerated:  # NaN is not in any range
            self.drop(OUT_OF_RANGE)
            return
        if value > greatest:
            value = greatest
        shown = round(value) if whole else float(value)
        self.families.setdefault(family, []).append(Sample(place.gpu, place.labels, shown, place.instance))

    def drop(self, reason: str) -> None:
        """One value that is not believed."""
        self.dropped[reason] = self.dropped.get(reason, 0) + 1
