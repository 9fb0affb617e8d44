"""What a diagnosis says: who, why, how sure, what it costs, and what to do next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Scope = Literal["rank", "node", "worker", "stage"]
Outcome = Literal["pass", "fail", "not measurable"]


@dataclass(frozen=True, slots=True)
class Culprit:
    """Whom a verdict names."""

    scope: Scope
    """What it is that is at fault: single ranks (and their GPUs), whole nodes, or a stage of a pipeline."""
    ranks: tuple[str, ...]
    """Labels of the ranks concerned."""
    nodes: tuple[str, ...] = ()
    """Hostnames."""
    gpus: tuple[str, ...] = ()
    """`hostname/gpu` of each rank, in the same order."""
    stages: tuple[str, ...] = ()
    """Stages of a pipeline, where `scope` is `stage`."""
    workers: tuple[str, ...] = ()
    """Data-parallel ranks, where `scope` is `worker`."""

    def describe(self) -> str:
        """In few words."""
        if self.scope == "node":
            return f"node {_few(self.nodes)}"
        if self.scope == "stage":
            return f"stage {_few(self.stages)}"
        if self.scope == "worker":
            return f"dp_rank {_few(self.workers)} (rank {_few(self.ranks)})"
        plural = "s" if len(self.ranks) > 1 else ""
        where = f" (GPU{plural} {_few(self.gpus)})" if self.gpus else ""
        return f"{self.scope}{plural} {_few(self.ranks)}{where}"


@dataclass(frozen=True, slots=True)
class Evidence:
    """One number behind a verdict."""

    name: str
    """What was measured, in words."""
    value: float
    reference: float | None
    """What it is compared with: peers, a healthy window or a threshold. None where the number speaks for itself."""
    unit: str
    """Unit of both; empty for a plain number."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What one cause has to say about a window, before it is weighed against the others."""

    cause: str
    evidence: tuple[Evidence, ...]
    seconds_per_step: float
    """What it costs the job in each step; 0 where it costs no time."""
    confidence: float
    """0 to 1."""
    culprit: Culprit | None = None
    urgency: float = 0.0
    """0 to 1, for what costs no step time and is worse than what does: 1 makes all further GPU-hours worthless."""
    detail: str = ""
    """What sets this case apart from others of its cause, such as the mode of a starvation."""
    stands_still: bool = False
    """Whether no step ends any more because of it: then everything is lost while it lasts."""


@dataclass(frozen=True, slots=True)
class Cost:
    """What something costs the job."""

    slowdown: float
    """S = T / T_ideal: 1 costs nothing."""
    seconds_per_step: float
    wasted_share: float
    """1 - 1/S: share of the GPU-hours that bought nothing."""
    wasted_gpu_hours_per_hour: float
    """The same in GPU-hours per hour of running, over all GPUs of the job."""
    price_per_hour: float | None
    """In the currency of the price that was given; None without one."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """One cause, weighed and priced."""

    cause: str
    summary: str
    """One sentence: what is wrong, and with whom."""
    culprit: Culprit | None
    """None where nobody is to blame, or everybody."""
    evidence: tuple[Evidence, ...]
    cost: Cost
    chronic: bool
    """Whether it lasts; false for a single event."""
    confidence: float
    confirm: str
    """A command that would show it."""
    remedy: str
    detail: str


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage of the isolation pipeline."""

    name: str
    metric: str
    """What is measured."""
    outcome: Outcome
    value: float | None
    """None where it cannot be measured."""
    threshold: float
    unit: str
    reason: str
    """Why it is not measurable; empty otherwise."""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """Everything that can be said about one window of a run."""

    run: str
    at_seconds: float
    """Unix time of the window's last scrape."""
    window_seconds: float
    scrapes: int
    steps: float
    step_seconds: float | None
    """Mean; None when no step ended."""
    cost: Cost | None
    """Of all causes together, seconds that several explain counted once; None when no step ended."""
    verdicts: tuple[Verdict, ...]
    """Most important first; empty when there is nothing to name."""
    pipeline: tuple[Stage, ...]
    abstained: str
    """Why no verdict was tried; empty when one was."""
    lost_seconds: dict[str, float]
    """Seconds per step that each rank costs the others, for ranks that cost any."""

    @property
    def sentence(self) -> str:
        """The outcome in one line."""
        if self.abstained:
            return f"nothing to name: {self.abstained}"
        if not self.verdicts:
            return self._without_verdict()
        return self.verdicts[0].summary

    def _without_verdict(self) -> str:
        """All is well only where steps end, no rank is slower than its peers, and no stage fails."""
        said = [] if self.step_seconds is not None else ["no step was seen to end"]
        if self.lost_seconds:
            worst = max(self.lost_seconds, key=lambda rank: self.lost_seconds[rank])
            said.append(f"rank {worst} takes {1e3 * self.lost_seconds[worst]:.0f} ms per step longer than its peers")
        failed = tuple(stage.name for stage in self.pipeline if stage.outcome == "fail")
        if failed:
            stages = "a stage is" if len(failed) == 1 else "stages are"
            said.append(f"{stages} beyond the threshold: {_few(failed)}")
        if not said:
            return "nothing to name: every stage of the step is as it should be"
        return f"no cause is certain, but {', and '.join(said)}"


def _few(values: tuple[str, ...], most: int = 8) -> str:
    shown = ", ".join(values[:most])
    return shown + (f" and {len(values) - most} more" if len(values) > most else "")
