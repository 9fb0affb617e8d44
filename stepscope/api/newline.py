"""JSON that ends with a newline, so that a terminal shows its prompt where it should."""

from __future__ import annotations

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send


class Newline:
    """Ends the JSON answers of the routes with a newline; problems bring theirs."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass everything else on unchanged."""
        ours = False

        async def send_with_newline(message: Message) -> None:
            nonlocal ours
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                ours = message["status"] != 204 and headers.get("content-type") == "application/json"
                if ours and "content-length" in headers:
                    headers["content-length"] = str(int(headers["content-length"]) + 1)
            elif ours and message["type"] == "http.response.body" and not message.get("more_body", False):
                message = {**message, "body": message.get("body", b"") + b"\n"}
            await send(message)

        await self._app(scope, receive, send_with_newline)
