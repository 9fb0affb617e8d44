"""Who may ask: Host allow-list, same-origin Origin, bearer token. Pure ASGI, in front of every route."""

from __future__ import annotations

import hmac
from collections.abc import Callable, Mapping

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from stepscope.api.access import SAFE_METHODS, is_for_participants, is_hidden_in_exam, is_secret
from stepscope.api.problems import ErrorItem, ProblemError
from stepscope.api.settings import Settings

_DEFAULT_PORTS = {"http": "80", "https": "443"}
HEADERS = {"X-Content-Type-Options": "nosniff", "Cross-Origin-Resource-Policy": "same-origin"}
"""Of every answer that does not say otherwise."""


def bearer(headers: Mapping[str, str]) -> str | None:
    """The bearer token of a request; None where there is none."""
    scheme, _, given = headers.get("authorization", "").partition(" ")
    return given.strip() if scheme.lower() == "bearer" else None


class Gate:
    """Says whether a request needs the token, at this moment, and has it."""

    def __init__(self, settings: Settings, *, hides: Callable[[], bool] = lambda: False) -> None:
        """`hides`: whether an exam runs, or is over and not revealed."""
        self._token = settings.token.encode()
        self._writes_need_token = settings.writes_need_token
        self._hides = hides

    def check(self, headers: Headers, method: str, path: str) -> None:
        """Raise the problem (401) of a request that may not go on."""
        if not self._needs_token(method, path):
            return
        given = bearer(headers)
        if given is not None and hmac.compare_digest(given.encode(), self._token):
            return
        wrong = bool(headers.get("authorization"))
        raise ProblemError(
            401,
            "token-required",
            ("This token is not the lab's. " if wrong else "This needs the lab's token. ")
            + "Send 'Authorization: Bearer …' with the value of STEPSCOPE_TOKEN, or the one printed at start.",
            headers={"WWW-Authenticate": 'Bearer realm="stepscope"' + (', error="invalid_token"' if wrong else "")},
        )

    def _needs_token(self, method: str, path: str) -> bool:
        if is_secret(path):
            return True
        if self._hides() and is_hidden_in_exam(path, method):
            return True
        return self._writes_need_token and method not in SAFE_METHODS and not is_for_participants(path)


def with_headers(send: Send) -> Send:
    """`send` for answers that carry HEADERS, and are kept by nobody unless they say so themselves."""

    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
            headers.setdefault("Cache-Control", "no-store")
        await send(message)

    return send_with_headers


class Guard:
    """Refuses what must not reach the routes: 421 foreign Host, 403 foreign Origin, 401 without the token."""

    def __init__(self, app: ASGIApp, settings: Settings, gate: Gate) -> None:
        self._app = app
        self._hosts = frozenset(settings.allowed_hosts)
        self._gate = gate

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or answer with a problem."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        send_with_headers = with_headers(send)
        try:
            headers = Headers(scope=scope)
            self._check_host(headers)
            _check_origin(headers, scope["scheme"])
            self._gate.check(headers, scope["method"], scope["path"])
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


class SecondLook:
    """Judges a request again: once its body is there, and at every part of its answer.

    What was asked before an exam began, and is answered while it runs, gets 401 as if it had been asked now; a stream
    ends. Writes are judged before they are carried out and not after.
    """

    def __init__(self, app: ASGIApp, gate: Gate) -> None:
        self._app = app
        self._gate = gate

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or answer with a problem."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers, method, path = Headers(scope=scope), scope["method"], scope["path"]
        over = False

        async def send_while_allowed(message: Message) -> None:
            nonlocal over
            if over:
                return
            try:
                if method in SAFE_METHODS and (message["type"] != "http.response.body" or message.get("more_body")):
                    self._gate.check(headers, method, path)
            except ProblemError as problem:
                over = True
                if message["type"] == "http.response.start":
                    await problem.response()(scope, receive, send)
                else:
                    await send({"type": "http.response.body", "body": b"", "more_body": False})
                return
            await send(message)

        try:
            self._gate.check(headers, method, path)
        except ProblemError as problem:
            await problem.response()(scope, receive, send)
            return
        await self._app(scope, receive, send_while_allowed)


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
