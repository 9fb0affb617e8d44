"""By which names the exporter may be called. Pure ASGI, in front of every route.

Nothing can be changed here and nothing is secret, but a web page that rebinds its own name to this address could read
on behalf of its visitor. Rebinding needs a name: an address in Host is always answered, whatever name a scraper uses
is answered where the exporter listens beyond this machine, and a list of names ends that.
"""

from __future__ import annotations

from ipaddress import ip_address

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from stepscope.api.guard import split_port, with_headers
from stepscope.api.problems import ErrorItem, ProblemError
from stepscope.export.settings import ExportSettings


class HostGuard:
    """421 for a Host that this exporter does not answer to."""

    def __init__(self, app: ASGIApp, settings: ExportSettings) -> None:
        self._app = app
        self._names = frozenset({"localhost", settings.host.lower(), *settings.allowed_hosts})
        self._any_name = not settings.is_local and not settings.allowed_hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or answer with a problem."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        send_with_headers = with_headers(send)
        if self._may_call(Headers(scope=scope).get("host", "")):
            await self._app(scope, receive, send_with_headers)
        else:
            await _refusal().response()(scope, receive, send_with_headers)

    def _may_call(self, place: str) -> bool:
        host, _ = split_port(place)
        return self._any_name or host in self._names or _is_address(host)


def _is_address(host: str) -> bool:
    try:
        ip_address(host.removeprefix("[").removesuffix("]"))
    except ValueError:
        return False
    return True


def _refusal() -> ProblemError:
    return ProblemError(
        421,
        "host-not-allowed",
        "The Host of this request is not one that this exporter answers to; STEPSCOPE_ALLOWED_HOSTS adds names.",
        errors=[ErrorItem("header", "/host", "must be an address, or a name that this exporter answers to")],
    )
