"""The job that runs, and asking for another."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field

from simulator.presets import PRESETS
from stepscope.api.models.base import Count, Moment, Name, Shape
from stepscope.api.models.state import RunView

MAX_SEED = 2**32 - 1


def _known(preset: str) -> str:
    if preset not in PRESETS:
        raise ValueError(f"must be one of {', '.join(PRESETS)}")
    return preset


def _whole(value: object) -> object:
    # As in JSON Schema, 5.0 is an integer.
    return int(value) if isinstance(value, float) and value.is_integer() else value


class JobWrite(Shape):
    """Start this as a new run."""

    preset: Annotated[str, AfterValidator(_known), Field(json_schema_extra={"enum": list(PRESETS)})]
    seed: Annotated[int, Field(ge=0, le=MAX_SEED), BeforeValidator(_whole)] | None = None
    """Null or left out: the seed of the run it replaces."""


class JobView(Shape):
    """What runs."""

    run: RunView
    started_at: Moment


class StartedView(JobView):
    """What runs now."""

    faults_ended: Count
    """Live faults of the run before it, which ended with that run."""


class PresetView(Shape):
    """A job that can be started."""

    preset: Name
    summary: Name
    model: Name
    gpu_model: Name
    ranks: Count
    nodes: Count
    notes: list[str]
    """What to know before believing its numbers."""


class PresetList(Shape):
    """All jobs that can be started."""

    presets: list[PresetView]
