"""Who may ask: Host allow-list, same-origin Origin, bearer token. Pure ASGI, in front of every route."""

from __future__ import annotations

import hmac
import re
from collections.abc import Mapping

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from stepscope.api.problems import ErrorItem, ProblemError
from stepscope.api.settings import Settings

SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})
_SECRET_PATH = re.compile(r"/metrics/truth|/v1/scenarios/[^/]*/answer")


def is_secret(path: str) -> bool:
    """Whether a path is always behind the token, also on loopback: it holds the answers."""
    return _SECRET_PATH.fullmatch(path) is not None


_DEFAULT_PORTS = {"http": "80", "https": "443"}
HEADERS = {"X-Content-Type-Options": "nosniff", "Cross-Origin-Resource-Policy": "same-origin"}
"""Of every answer that does not say otherwise."""


class Guard:
    """Refuses what must not reach the routes: 421 foreign Host, 403 foreign Origin, 401 without the token."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app = app
        self._hosts = frozenset(settings.allowed_hosts)
        self._token = settings.token.encode()
        self._writes_need_token = settings.writes_need_token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or answer with a problem."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
                headers.setdefault("Cache-Control", "no-store")
            await send(message)

        try:
            headers = Headers(scope=scope)
            self._check_host(headers)
            _check_origin(headers, scope["scheme"])
            self._check_token(headers, scope["method"], scope["path"])
        except ProblemError as problem:
            await problem.response()(scope, receive, send_with_headers)
            return
        await self._app(scope, receive, send_with_headers)

    def _check_host(self, headers: Mapping[str, str]) -> None:
        host, _ = split_port(headers.get("host", ""))
        if host not in self._hosts:
            raise ProblemError(
                421,
                "host-not-allowed",
                "The Host of this request is not one that this lab answers to; STEPSCOPE_ALLOWED_HOSTS adds names.",
                errors=[ErrorItem("header", "/host", f"must be one of {', '.join(sorted(self._hosts))}")],
            )

    def _check_token(self, headers: Headers, method: str, path: str) -> None:
        secret = is_secret(path)
        if not secret and not (self._writes_need_token and method not in SAFE_METHODS):
            return
        scheme, _, given = headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer" and hmac.compare_digest(given.strip().encode(), self._token):
            return
        wrong = bool(scheme)
        raise ProblemError(
            401,
            "token-required",
            ("This token is not the lab's. " if wrong else "This needs the lab's token. ")
            + "Send 'Authorization: Bearer …' with the value of STEPSCOPE_TOKEN, or the one printed at start.",
            headers={"WWW-Authenticate": 'Bearer realm="stepscope"' + (', error="invalid_token"' if wrong else "")},
        )


def _check_origin(headers: Headers, scheme: str) -> None:
    origins = headers.getlist("origin")
    if not origins:
        return
    origin = origins[0]
    origin_scheme, _, place = origin.lower().partition("://")
    default = _DEFAULT_PORTS.get(origin_scheme)
    host, port = split_port(place)
    own_host, own_port = split_port(headers.get("host", ""))
    # A proxy that ends TLS shows us http: the default port of a bare Host is then the origin's, not ours.
    same = default is not None and (host, port or default) == (own_host, own_port or default)
    if len(origins) > 1 or not same or (scheme == "https" and origin_scheme == "http"):
        raise ProblemError(
            403,
            "foreign-origin",
            "Pages of another origin may not use this lab.",
            errors=[ErrorItem("header", "/origin", "must be the origin of the lab itself, or absent")],
        )


def split_port(place: str) -> tuple[str, str]:
    """Host in lower case (IPv6 keeps its brackets) and port text, empty when there is none."""
    host, colon, port = place.lower().rpartition(":")
    if colon and port.isdigit() and (host.endswith("]") or ":" not in host):
        return host, port
    return place.lower(), ""
