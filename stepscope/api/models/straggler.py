"""What slow ranks cost a job, by its size."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from stepscope.api.models.base import NonNegative, Shape


class Drawn(Shape):
    """The answer by drawing steps: a check on the exact one."""

    step_factor: NonNegative
    standard_error: NonNegative
    """Of the mean over the drawn steps; 0 when nothing is random."""


class StragglerRow(Shape):
    """A job of one size."""

    gpus: Annotated[int, Field(ge=1)]
    efficiency: Annotated[float, Field(gt=0, le=1.0000001)]
    """Work done over that of as many healthy GPUs that wait for nobody; 1 / step_factor."""
    step_factor: NonNegative
    """Mean step over the mean step of one healthy rank alone, without stalls, exactly."""
    monte_carlo: Drawn
