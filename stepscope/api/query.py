"""Query parameters, read as strictly as bodies: nothing unknown, nothing twice, no lenient spelling."""

from __future__ import annotations

import re
from collections import Counter
from typing import Annotated

from fastapi import Query, Request
from pydantic import BeforeValidator, Field

from stepscope.api.problems import ErrorItem, pointer, unprocessable


async def only_known(request: Request) -> None:
    """A dependency that refuses parameters which the route does not have, and any that comes twice."""
    route = request.scope["route"]
    known = sorted(param.alias for param in route.dependant.query_params)
    errors = []
    for name, times in Counter(name for name, _ in request.query_params.multi_items()).items():
        if name not in known:
            valid = f"valid are {', '.join(known)}" if known else "there is none"
            errors.append(ErrorItem("query", pointer([name[:80]]), f"is not a parameter here; {valid}"))
        elif times > 1:
            errors.append(ErrorItem("query", pointer([name]), "may be given once"))
    if errors:
        raise unprocessable(errors)


def _boolean(value: object) -> object:
    if isinstance(value, str):
        if value not in ("true", "false"):
            raise ValueError("must be true or false")
        return value == "true"
    return value


def _whole(value: object) -> object:
    if isinstance(value, str):
        if re.fullmatch("0|[1-9][0-9]{0,17}", value) is None:
            raise ValueError("must be a whole number of at least 0")
        return int(value)
    return value


def _number(value: object) -> object:
    if isinstance(value, str):
        if re.fullmatch(r"-?(0|[1-9][0-9]{0,17})(\.[0-9]{1,30})?([eE][-+]?[0-9]{1,3})?", value) is None:
            raise ValueError("must be a number")
        return float(value)
    return value


Switch = Annotated[bool, BeforeValidator(_boolean)]
"""`true` or `false`, no other spelling."""

Whole = Annotated[int, Field(ge=0, le=10**18 - 1), BeforeValidator(_whole)]
"""Digits only."""

AsNumber = BeforeValidator(_number)
"""For a number as JSON writes them; the range must stand before it, or the document does not show it."""
AsWhole = BeforeValidator(_whole)
"""Likewise, digits only."""

FirstRank = Annotated[Whole, Query(description="First rank to show.")]
Limit = Annotated[int, Field(ge=1, le=1024), BeforeValidator(_whole), Query(description="Ranks to show at most.")]
