"""What a remedy is: something an engineer would do about a slow job, and what it changes where it acts.

A remedy knows nothing of faults. It changes the same physical places that faults touch; a fault whose place it puts
right is over, any other goes on.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from faults.effects import Effects, Topology
from faults.kind import NEEDS, Param, ParamValue
from faults.target import Mode

NAME_PATTERN = "^[A-Za-z][A-Za-z0-9_]{0,40}$"
"""What the name of a remedy looks like: that of the setting, where it is one."""


@dataclass(frozen=True, slots=True)
class Dose:
    """A remedy as it was applied once."""

    value: ParamValue | None
    """Of the setting; None for what is done rather than set."""
    ranks: NDArray[np.int64]
    """Where, sorted."""
    topology: Topology

    @property
    def number(self) -> float:
        """The value of a numeric setting."""
        assert isinstance(self.value, (int, float))
        return float(self.value)

    @property
    def here(self) -> NDArray[np.bool_]:
        """(ranks,) whether it was applied there."""
        mask = np.zeros(self.topology.ranks, dtype=bool)
        mask[self.ranks] = True
        return mask


class Remedy(ABC):
    """One thing that can be done. Instances hold no state."""

    name: ClassVar[str]
    """The setting's own name where it has one, `NCCL_BUFFSIZE` for example."""
    summary: ClassVar[str]
    """What it does, in a sentence."""
    setting: ClassVar[Param | None] = None
    """What value it takes; None where there is nothing to set."""
    restarts: ClassVar[bool] = False
    """Whether the job has to be started again from its last good checkpoint for it."""
    target_modes: ClassVar[tuple[Mode, ...]] = ("all",)
    """Whom it can be applied to; the first one is the default, `nodes` and `ranks` must be named."""
    needs: ClassVar[tuple[str, ...]] = ()
    """Keys of NEEDS."""

    @abstractmethod
    def treat(self, effects: Effects, dose: Dose) -> None:
        """Change `effects`, those of everything that was there before it."""

    def unmet_needs(self, topology: Topology) -> list[str]:
        """Why it can do nothing on a job of this shape; empty when it can."""
        return [reason for met, reason in (NEEDS[need] for need in self.needs) if not met(topology)]
