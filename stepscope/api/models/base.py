"""What every model of the API shares."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field


class Shape(BaseModel):
    """Strict: nothing is converted, no unknown key passes."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, use_attribute_docstrings=True)


Share = Annotated[float, Field(ge=0)]
"""A ratio, 0 to 1; a little above 1 only where float rounding or a doubtful peak makes it so."""

NonNegative = Annotated[float, Field(ge=0)]
Count = Annotated[int, Field(ge=0)]
Name = Annotated[str, Field(min_length=1)]
Moment = Annotated[str, Field(json_schema_extra={"format": "date-time"})]
"""RFC 3339 text, UTC."""


class PhaseValues(Shape):
    """One number per phase of the step."""

    data_wait: NonNegative
    h2d: NonNegative
    forward: NonNegative
    backward: NonNegative
    collective_wait: NonNegative
    collective: NonNegative
    optimizer: NonNegative
    checkpoint: NonNegative
    stall: NonNegative
