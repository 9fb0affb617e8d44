"""What a diagnosis says."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from stepscope.api.models.base import Count, Name, NonNegative, Shape


class CulpritView(Shape):
    """Whom a verdict names."""

    scope: Literal["rank", "node", "worker", "stage"]
    ranks: list[Name]
    """Labels of the ranks concerned."""
    nodes: list[Name]
    """Hostnames."""
    gpus: list[Name]
    """`hostname/gpu` of each rank, in the same order."""
    stages: list[Name]
    """Always empty here: a run's series say no stages."""
    workers: list[Name]
    """Always empty here."""


class EvidenceView(Shape):
    """One number behind a verdict."""

    name: Name
    value: float | None
    """Null when it is not finite."""
    reference: float | None
    """Peers, a better window or a threshold; null where the number speaks for itself."""
    unit: str


class CostView(Shape):
    """What something costs the job."""

    slowdown: Annotated[float, Field(ge=1)] | None
    """S = T / T_ideal; null when no step ends at all."""
    seconds_per_step: NonNegative
    wasted_share: Annotated[float, Field(ge=0, le=1)]
    """1 - 1/S: share of the GPU-hours that bought nothing."""
    wasted_gpu_hours_per_hour: NonNegative
    """The same over all GPUs of the job."""
    price_per_hour: float | None
    """In the currency of `price_per_gpu_hour`; null without one."""


class VerdictView(Shape):
    """One cause, weighed and priced."""

    cause: Name
    summary: Name
    culprit: CulpritView | None
    """Null where nobody is to blame, or everybody."""
    evidence: list[EvidenceView]
    cost: CostView
    chronic: bool
    """Whether it lasts; false for a single event."""
    confidence: Annotated[float, Field(ge=0, le=1)]
    confirm: Name
    """A command that would show it."""
    remedy: Name
    detail: str
    """What sets this case apart from others of its cause."""


class StageView(Shape):
    """One stage of the isolation pipeline."""

    name: Name
    metric: Name
    outcome: Literal["pass", "fail", "not measurable"]
    value: float | None
    """Null where it cannot be measured."""
    threshold: float
    unit: Name
    reason: str
    """Why it is not measurable; empty otherwise."""


class DiagnosisView(Shape):
    """The verdicts on the last stretch of the run, most important first, from what its public series show."""

    sentence: Name
    """The outcome in one line."""
    run: Name
    at_seconds: float
    """Unix time of the last sample."""
    window_seconds: NonNegative
    scrapes: Count
    steps: NonNegative
    step_seconds: NonNegative | None
    """Mean; null when no step ended."""
    cost: CostView | None
    """Of all causes together; null when no step ended."""
    verdicts: list[VerdictView]
    """Empty when there is nothing to name."""
    pipeline: list[StageView]
    abstained: str
    """Why no verdict was tried; empty when one was."""
    lost_seconds: dict[str, float]
    """Seconds per step that a rank's own work costs the others, by rank, for those that cost any."""
