"""A server's refusal, as one line in the words that were typed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from stepscope.cli.errors import FAILED, WRONG_INPUT, CliError

_WRONG_INPUT = frozenset({400, 404, 409, 413, 422})
"""Answers that mean: ask for something else. Any other is a failure."""

NOT_FOUND = 404
MEDIA_TYPE = "application/problem+json"


class RefusedError(CliError):
    """The lab's answer is no."""

    def __init__(self, message: str, *, http_status: int) -> None:
        super().__init__(message, status=WRONG_INPUT if http_status in _WRONG_INPUT else FAILED)
        self.http_status = http_status


def refusal(status: int, media_type: str, body: bytes, *, url: str, typed: Mapping[str, str]) -> CliError:
    """The error for an answer with an error status; `typed` maps JSON pointers of the request to what was typed.

    A pointer finds its own entry, or that of the longest pointer above it.
    """
    problem = _problem(media_type, body)
    if problem is None:
        kind = media_type or "no content"
        return CliError(f"{url} answers, but not as a stepscope lab does (HTTP {status}, {kind}); is --url right?")
    return RefusedError(_line(problem, typed), http_status=status)


def _problem(media_type: str, body: bytes) -> dict[str, Any] | None:
    if media_type != MEDIA_TYPE:
        return None
    try:
        problem = json.loads(body)
    except ValueError:
        return None
    return problem if isinstance(problem, dict) else None


def _line(problem: Mapping[str, Any], typed: Mapping[str, str]) -> str:
    errors = problem.get("errors")
    items = [item for item in errors if isinstance(item, dict)] if isinstance(errors, list) else []
    if not items:
        return str(problem.get("detail") or problem.get("title") or "refused without a reason")
    return "; ".join(f"{_name(str(item.get('pointer', '')), typed)}{item.get('detail', '')}" for item in items)


def _name(pointer: str, typed: Mapping[str, str]) -> str:
    above = pointer
    while above:
        if above in typed:
            return f"{typed[above]}: "
        above = above.rpartition("/")[0]
    name = pointer.removeprefix("/params").removeprefix("/").replace("/", ".").replace("~1", "/").replace("~0", "~")
    return f"{name}: " if name else ""
