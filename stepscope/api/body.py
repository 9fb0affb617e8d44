"""What a request body may be: JSON, strictly read, of bounded size. Pure ASGI, so that it bounds chunked ones too."""

from __future__ import annotations

import json
import math
from email.message import Message as Mail

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from stepscope.api.problems import ErrorItem, ProblemError

MAX_BODY_BYTES = 64 * 1024
"""Far above any fault that the schema accepts."""
MAX_INTEGER = 2**63 - 1
MAX_DEPTH = 32


class StrictBody:
    """Refuses bodies that are too long (413), not JSON by type (415) or not JSON by content (400)."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Read the whole body, judge it, hand it on; or answer with a problem."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        try:
            headers = Headers(scope=scope)
            _check_length(headers)
            body = await _read(receive)
            if body is None:
                return
            if body:
                _check_type(headers)
                parse_json(body)
        except ProblemError as problem:
            await problem.response()(scope, receive, send)
            return
        await self._app(scope, _replay(body, receive), send)


def parse_json(body: bytes) -> object:
    """Read JSON (RFC 8259) with the doubtful cases refused.

    Those are other encodings than UTF-8, lone surrogates, duplicate keys, NaN and infinities, numbers that do not fit a
    double or 64 bits, and nesting deeper than `MAX_DEPTH`. Raises `ProblemError` (400).
    """
    try:
        text = body.decode("utf-8")
        value: object = json.loads(
            text,
            object_pairs_hook=_unique,
            parse_constant=_refuse_constant,
            parse_float=_finite,
            parse_int=_bounded,
        )
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeError:
        raise _malformed("is not valid UTF-8") from None
    except RecursionError:
        raise _malformed("is nested too deeply") from None
    except json.JSONDecodeError as error:
        raise _malformed(f"is not JSON: {error.msg} at character {error.pos}") from None
    except ValueError as error:
        raise _malformed(str(error)) from None
    if _depth(value) > MAX_DEPTH:
        raise _malformed("is nested too deeply")
    return value


def _check_length(headers: Headers) -> None:
    length = headers.get("content-length", "0")
    if length.isdigit() and (len(length) > 12 or int(length) > MAX_BODY_BYTES):
        raise _too_long()


def _check_type(headers: Headers) -> None:
    if headers.get("content-encoding", "identity").strip().lower() not in ("", "identity"):
        plain = {"Accept-Encoding": "identity"}
        raise ProblemError(
            415, "encoded-body", "A body must not be compressed: leave Content-Encoding out.", headers=plain
        )
    mail = Mail()
    mail["content-type"] = headers.get("content-type", "")
    kind = mail.get_content_type() if headers.get("content-type") else ""
    charset = str(mail.get_param("charset", "utf-8")).lower()
    if kind != "application/json" or charset not in ("utf-8", "utf8"):
        raise ProblemError(
            415,
            "not-json",
            "A body must be JSON in UTF-8: send 'Content-Type: application/json'.",
            headers={"Accept": "application/json"},
        )


async def _read(receive: Receive) -> bytes | None:
    """The whole body, or None when the client has gone."""
    chunks: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        chunk = message.get("body", b"")
        size += len(chunk)
        if size > MAX_BODY_BYTES:
            raise _too_long()
        chunks.append(chunk)
        if not message.get("more_body", False):
            return b"".join(chunks)


def _replay(body: bytes, receive: Receive) -> Receive:
    given = False

    async def replayed() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replayed


def _too_long() -> ProblemError:
    return ProblemError(
        413, "body-too-long", f"A body may have at most {MAX_BODY_BYTES} bytes.", headers={"Connection": "close"}
    )


def _malformed(detail: str) -> ProblemError:
    return ProblemError(400, "malformed-body", f"The body {detail}.", errors=[ErrorItem("body", "", detail)])


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("names a key twice")
    return found


def _refuse_constant(name: str) -> float:
    raise ValueError(f"holds {name}, which is not JSON")


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError("holds a number that is too large")
    return value


def _bounded(text: str) -> int:
    if len(text) > 20 or abs(int(text)) > MAX_INTEGER:
        raise ValueError("holds a whole number of more than 64 bits")
    return int(text)


def _depth(value: object) -> int:
    """How many containers stand in one another at most."""
    depth = 0
    level = [value]
    while containers := [item for item in level if isinstance(item, dict | list)]:
        depth += 1
        level = [child for item in containers for child in (item.values() if isinstance(item, dict) else item)]
    return depth
