"""The shape of an error: RFC 9457 problem details."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from stepscope.api.models.base import Name, Shape


class ProblemItem(Shape):
    """One thing that is wrong with a request."""

    source: Literal["body", "query", "path", "header"] = Field(alias="in")
    """Where it stands."""
    pointer: str
    """JSON pointer into that place; empty for the whole of it."""
    detail: Name


class ProblemView(Shape):
    """An error, as `application/problem+json`."""

    type: Name
    """URN that tells one kind of error from another."""
    title: Name
    status: int
    detail: Name
    errors: list[ProblemItem] = Field(default_factory=list)
    components: dict[str, str] = Field(default_factory=dict)
    """Of `/readyz` only: each part of the lab and what is the matter with it."""
