"""Errors as RFC 9457 problem details, all of them, with a JSON pointer for each thing that is wrong."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from http import HTTPStatus
from itertools import islice
from typing import Any

from starlette.responses import Response

MEDIA_TYPE = "application/problem+json"
# Names of RFC 9110, which Python took over only later.
_TITLES = {413: "Content Too Large", 422: "Unprocessable Content"}
MOST_ERRORS = 32
"""Things named one by one at most, however many are wrong."""
_PREFIX = "urn:stepscope:problem:"


@dataclass(frozen=True, slots=True)
class ErrorItem:
    """One thing that is wrong with a request."""

    source: str
    """Where it stands: body, query, path or header."""
    pointer: str
    """JSON pointer into that place; empty for the whole of it."""
    detail: str


class ProblemError(Exception):
    """Raised anywhere below a route to answer with a problem."""

    def __init__(
        self,
        status: int,
        kind: str,
        detail: str,
        *,
        errors: Iterable[ErrorItem] = (),
        headers: Mapping[str, str] | None = None,
        extra: Mapping[str, object] | None = None,
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.kind = kind
        self.detail = detail
        self.errors = tuple(islice(errors, MOST_ERRORS))
        self.headers = dict(headers or {})
        self.extra = dict(extra or {})

    def response(self) -> Response:
        """The answer that carries this problem."""
        content: dict[str, Any] = {
            "type": f"{_PREFIX}{self.kind}",
            "title": _TITLES.get(self.status) or HTTPStatus(self.status).phrase,
            "status": self.status,
            "detail": self.detail,
        }
        if self.errors:
            content["errors"] = [_item(error) for error in self.errors]
        text = json.dumps(content | self.extra, ensure_ascii=False, allow_nan=False) + "\n"
        # What a client sent, a lone surrogate included, may stand in it.
        return Response(text.encode("utf-8", "backslashreplace"), self.status, self.headers, MEDIA_TYPE)


def pointer(parts: Iterable[object]) -> str:
    """JSON pointer (RFC 6901) of a path of keys and indices."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in parts)


def unprocessable(errors: Iterable[ErrorItem]) -> ProblemError:
    """422 for a request that can be read but not carried out; the detail names the first error."""
    items = tuple(errors)
    first = items[0]
    place = first.pointer.removeprefix("/") or first.source
    more = f" (and {len(items) - 1} more)" if len(items) > 1 else ""
    return ProblemError(422, "invalid-request", f"{place}: {first.detail}{more}", errors=items)


def _item(error: ErrorItem) -> dict[str, str]:
    content = asdict(error)
    return {"in": content.pop("source"), **content}
