"""What one cycle of a GPU source found: who is there, what each gave, what was dropped and why.

A reading is made anew in every cycle and never changed afterwards, so that a GPU which is gone leaves nothing behind.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from exporter.catalogue import Family

Labels = tuple[tuple[str, str], ...]
"""Names and values, unescaped, in the order in which they are written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gpu:
    """A board that gave readings, or one that should have."""

    uuid: str
    """Empty where the driver gives no handle; then `index` is all there is."""
    index: str
    """Value of the label `gpu`. It moves to another board when one is lost: only the UUID is an identity."""
    labels: Labels = ()
    """Identity of the board as its series carry it: the catalogue's GPU_LABELS, those that are known."""
    reason: str = ""
    """Why it gave nothing, `gpu_lost` or `timeout` for example; empty when it did."""
    taken_at: float | None = None
    """When its values were read, as `time.monotonic` has it, where that was before this cycle; None: in it."""

    @property
    def key(self) -> str:
        """Tells this board from the others of the machine."""
        return self.uuid or f"index {self.index}"

    @property
    def up(self) -> bool:
        """Whether it gave readings."""
        return not self.reason


@dataclass(frozen=True, slots=True)
class Sample:
    """One value of one family."""

    gpu: str
    """`Gpu.key` of its board; empty for what belongs to no board."""
    labels: Labels
    """All of its labels, identity included; no empty values, no name twice."""
    value: int | float
    """In the family's exposed unit. Counters stay int: a float loses digits above 2**53."""
    instance: str = ""
    """GPU_I_ID of a partition of the board; empty for the whole."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """Everything that one cycle found."""

    families: Mapping[Family, tuple[Sample, ...]]
    """Families with at least one sample, in the order in which they are written; no series twice."""
    gpus: tuple[Gpu, ...]
    """Boards present and boards missing."""
    expected: int
    """Boards that the machine should have."""
    dropped: Mapping[str, int] = field(default_factory=dict)
    """Samples of this cycle that were there and not believed, by reason."""
    errors: Mapping[str, int] = field(default_factory=dict)
    """Errors of this cycle that did not end it, by reason."""

    def without_older(self, than: float, *, reason: str) -> Reading:
        """The reading without the values of boards that were read before a time; those are down for this reason."""
        late = {gpu.key for gpu in self.gpus if gpu.taken_at is not None and gpu.taken_at < than}
        if not late:
            return self
        left = {
            family: tuple(sample for sample in samples if sample.gpu not in late)
            for family, samples in self.families.items()
        }
        gpus = tuple(replace(gpu, reason=gpu.reason or reason) if gpu.key in late else gpu for gpu in self.gpus)
        return replace(self, families={family: samples for family, samples in left.items() if samples}, gpus=gpus)
