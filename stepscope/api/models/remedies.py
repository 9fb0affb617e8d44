"""Remedies, as answers. What may be *applied* is described by remedy_schema.py."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from faults.target import Mode
from stepscope.api.models.base import Count, Moment, Name, NonNegative, Shape
from stepscope.api.models.faults import Prediction, TargetView


class RemedyView(Shape):
    """Something that can be done."""

    remedy: Name
    summary: Name
    value: Annotated[dict[str, Any] | None, Field(json_schema_extra={"additionalProperties": True})]
    """JSON Schema of the value that it takes, with its unit as `x-unit`; null where there is nothing to set."""
    restarts: bool
    """Whether the job is started again for it, from its last good checkpoint."""
    target_modes: list[Mode]
    """Whom it can be applied to; `nodes` and `ranks` must be named."""
    needs: list[str]
    """What the job must have."""


class AppliedView(Shape):
    """A remedy that was applied to this run."""

    remedy: Name
    value: int | float | str | bool | None
    target: TargetView | None
    applied_at_seconds: NonNegative
    """Since the run began."""
    effective_from_step: Count
    restart_seconds: NonNegative
    """For how long the job is down for it."""
    back_at: Moment | None
    """When its processes are there again; null where they never went."""


class RemedyList(Shape):
    """What can be done, and what was."""

    remedies: list[RemedyView]
    applied: list[AppliedView]


class RemedyDryRun(Shape):
    """What applying it would do once the job is back. Nothing was applied."""

    dry_run: Literal[True] = True
    remedy: Name
    restart_seconds: NonNegative
    predicted: Prediction
