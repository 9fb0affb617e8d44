"""What the client takes: the `Accept` header, as far as this lab needs it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from starlette.requests import Request

from stepscope.api.problems import ErrorItem, ProblemError


def accepts(header: str, media_type: str) -> bool:
    """Whether an `Accept` header allows `media_type`: the most specific matching range decides (RFC 9110, 12.5.1)."""
    if not header.strip():
        return True
    main = media_type.partition("/")[0]
    weights: dict[str, float] = {}
    for part in header.split(","):
        name, *parameters = (piece.strip().lower() for piece in part.split(";"))
        weights[name] = max(weights.get(name, 0.0), _weight(parameters))
    for name in (media_type, f"{main}/*", "*/*"):
        if name in weights:
            return weights[name] > 0
    return False


def needs(media_type: str) -> Callable[[Request], Awaitable[None]]:
    """A dependency that answers 406 when the client does not take `media_type`."""

    async def check(request: Request) -> None:
        if not accepts(request.headers.get("accept", ""), media_type):
            raise ProblemError(
                406,
                "not-acceptable",
                f"This answers with {media_type} only.",
                errors=[ErrorItem("header", "/accept", f"must allow {media_type}")],
            )

    return check


def _weight(parameters: list[str]) -> float:
    for parameter in parameters:
        name, _, value = parameter.partition("=")
        if name.strip() == "q":
            try:
                return float(value)
            except ValueError:
                return 0.0
    return 1.0
