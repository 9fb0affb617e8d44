"""What a cause is: one file in `diagnosis/causes/` that ends in `CAUSES = (…,)`; that is all it takes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from diagnosis.series import Series
from diagnosis.verdict import Culprit, Evidence, Finding, Scope
from diagnosis.window import Window


@dataclass(frozen=True, slots=True)
class Case:
    """What a cause gets to see."""

    now: Window
    """The stretch that is judged."""
    before: Window | None
    """The best stretch of the same run before it, of the same length; None when there is none."""
    pieces: tuple[Window, ...]
    """The stretch cut into the intervals between its scrapes, those of them in which a step ended."""
    long: Window
    """Three stretches up to the same end, or all there is: for what comes once in many steps."""
    history: Series
    """Every sample there is, up to the end of `now`."""

    @property
    def step_seconds(self) -> float:
        """Mean step now."""
        return self.now.step_seconds

    def culprit(self, ranks: Iterable[int] | NDArray[np.int64], scope: Scope = "rank") -> Culprit:
        """The culprit with these indices; of scope `node` all nodes on which one of the ranks is."""
        series = self.now.series
        members = [series.members[int(rank)] for rank in ranks]
        nodes = tuple(dict.fromkeys(series.nodes[member.node] for member in members))
        # A job without GPUs has ranks without boards.
        boards = [f"{series.nodes[member.node]}/{member.gpu}" for member in members if member.gpu]
        gpus = tuple(boards) if len(boards) == len(members) else ()
        return Culprit(scope, tuple(member.rank for member in members), nodes, gpus)

    def whole_nodes(self, ranks: NDArray[np.int64]) -> bool:
        """Whether these ranks are all ranks of some nodes, of which there are others too, and of more than one rank."""
        node_of = self.now.series.node_of
        nodes = np.unique(node_of[ranks])
        every = np.flatnonzero(np.isin(node_of, nodes))
        return len(nodes) < len(self.now.series.nodes) and len(every) == len(ranks) and len(ranks) > len(nodes)


class Cause(ABC):
    """One reason for a job to go wrong. Instances hold no state."""

    name: ClassVar[str]
    title: ClassVar[str]
    """The cause as the subject of a sentence."""
    confirm: ClassVar[str]
    remedy: ClassVar[str]
    takes: ClassVar[str] = ""
    """Which part of the step it lengthens (`input`, `waiting`, `transfer`, `work`): causes of the same part on the same
    ranks are alternatives, each of which explains the same seconds. Empty: a part that no other cause lengthens."""
    explains: ClassVar[tuple[str, ...]] = ()
    """Causes that are only its consequence where the same ranks are concerned, or where either names nobody."""

    @abstractmethod
    def find(self, case: Case) -> Sequence[Finding]:
        """What it has to say about the case: usually nothing."""

    def finding(
        self,
        evidence: Sequence[Evidence],
        *,
        seconds: float = 0.0,
        confidence: float = 0.9,
        culprit: Culprit | None = None,
        urgency: float = 0.0,
        detail: str = "",
        stands_still: bool = False,
    ) -> Finding:
        """A finding of this cause. Evidence that nobody has measured (NaN) is none."""
        return Finding(
            self.name, tuple(item for item in evidence if np.isfinite(item.value)), max(0.0, seconds),
            min(1.0, max(0.0, confidence)), culprit, urgency, detail, stands_still,
        )  # fmt: skip
