"""What the routes under `/v1` share."""

from __future__ import annotations

from fastapi import APIRouter, Depends

from stepscope.api.accept import needs
from stepscope.api.query import only_known


def v1(tag: str, *, media_type: str = "application/json") -> APIRouter:
    """A router that answers with `media_type` and refuses unknown query parameters."""
    return APIRouter(prefix="/v1", tags=[tag], dependencies=[Depends(needs(media_type)), Depends(only_known)])
