"""How many requests may be under way at once."""

from __future__ import annotations

from starlette.types import ASGIApp, Receive, Scope, Send

from stepscope.api.problems import ProblemError

MOST_REQUESTS = 128
"""Above what a Prometheus, a room of browsers and a few scripts do; each may hold a page in memory."""
_ALWAYS = ("/healthz",)


class Crowd:
    """Answers 503 at once where queueing would only make everybody wait longer; `/healthz` is always let through."""

    def __init__(self, app: ASGIApp, most: int = MOST_REQUESTS) -> None:
        self._app = app
        self._most = most
        self._present = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or answer with a problem."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if self._present >= self._most and scope["path"] not in _ALWAYS:
            detail = f"{self._present} requests are under way; come back in a second."
            await ProblemError(503, "too-many-requests", detail, headers={"Retry-After": "1"}).response()(
                scope, receive, send
            )
            return
        self._present += 1
        try:
            await self._app(scope, receive, send)
        finally:
            self._present -= 1
