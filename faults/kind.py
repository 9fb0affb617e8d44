"""What a kind of fault is. Each kind is one file in `faults/kinds/` that ends in `KIND = …`; that is all it takes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from faults.checks import Checker, Range
from faults.effects import Effects, Topology
from faults.errors import Problem
from faults.target import MODES, Mode, Target

ParamValue = float | str | bool
ParamType = Literal["number", "integer", "string", "boolean"]
MAX_STRING = 200
"""Longest string, in characters, that a parameter takes."""

NEEDS: Mapping[str, tuple[Callable[[Topology], bool], str]] = {
    "network": (
        lambda topology: topology.overlaps_nodes,
        "needs a network between nodes, and the collectives of this job never leave one node",
    ),
    "loss_scaling": (
        lambda topology: topology.scales_loss,
        "needs a job that scales its loss, and this one does not train in fp16",
    ),
}
"""What a kind may need of the job: whether a job has it, and the words for one that has not."""


@dataclass(frozen=True, slots=True)
class Param:
    """One parameter of a kind, with everything that the API and the command line say about it."""

    name: str
    type: ParamType
    default: ParamValue
    unit: str
    """Empty when it has none."""
    description: str
    minimum: float | None = None
    maximum: float | None = None
    choices: tuple[str, ...] = ()

    def checked(self, raw: object, check: Checker, *, pointer: str) -> ParamValue | None:
        """The clean value; None after noting on `check` what is wrong."""
        limits = Range(self.minimum, self.maximum)
        if self.type == "number":
            return check.number(raw, pointer, limits)
        if self.type == "integer":
            return check.integer(raw, pointer, limits)
        if self.type == "boolean":
            return check.boolean(raw, pointer)
        if self.choices:
            return check.choice(raw, pointer, self.choices)
        return check.string(raw, pointer, max_length=MAX_STRING)


@dataclass(frozen=True, slots=True)
class Application:
    """One active fault in one tick, as its kind gets to see it."""

    fault: str
    """Name of the fault; with `seed` it keys every random draw that the fault causes."""
    seed: int
    ranks: NDArray[np.int64]
    """The ranks hit, sorted."""
    intensity: float
    """0 to 1, schedule included; at 0 a kind must leave the effects neutral."""
    params: Mapping[str, ParamValue]
    topology: Topology

    def number(self, name: str) -> float:
        """A numeric parameter."""
        return float(self.params[name])


class Kind(ABC):
    """One way in which a job goes wrong. Instances hold no state."""

    name: ClassVar[str]
    summary: ClassVar[str]
    """One sentence: what breaks."""
    look_at: ClassVar[str]
    """What to watch, and what it should show."""
    params: ClassVar[tuple[Param, ...]] = ()
    phases: ClassVar[tuple[str, ...]] = ()
    """Phases of the step that it lengthens."""
    metrics: ClassVar[tuple[str, ...]] = ()
    """Names of the series that move."""
    composition: ClassVar[str]
    """How several at once add up."""
    target_modes: ClassVar[tuple[Mode, ...]] = MODES
    default_target: ClassVar[Target] = Target("all")
    needs: ClassVar[tuple[str, ...]] = ()
    """Keys of NEEDS."""

    def default_target_for(self, params: Mapping[str, ParamValue]) -> Target:
        """The target of a fault that names none."""
        return self.default_target

    def default_params(self) -> dict[str, ParamValue]:
        """Every parameter at its default."""
        return {param.name: param.default for param in self.params}

    def unmet_needs(self, topology: Topology) -> list[str]:
        """Why this kind shows nothing on a job of this shape; empty when it does."""
        return [reason for met, reason in (NEEDS[need] for need in self.needs) if not met(topology)]

    def cycle_steps(self, params: Mapping[str, ParamValue]) -> int:
        """Steps over which a mean of its effect has to be taken; 1 unless a kind says so."""
        return 1

    def misfits(self, params: Mapping[str, ParamValue], topology: Topology) -> list[Problem]:
        """What is wrong with valid parameters on a job of this shape; nothing unless a kind says so."""
        return []

    @abstractmethod
    def apply(self, effects: Effects, application: Application) -> None:
        """Change `effects` where the cause would act. The outcome must not depend on the order of several faults."""
