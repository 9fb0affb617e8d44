"""A Prometheus over HTTP, on the standard library alone: bounded in time and in size."""

from __future__ import annotations

import gc
import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlencode, urlsplit
from urllib.request import ProxyHandler, Request, build_opener

DEADLINE_SECONDS = 30.0
"""For all queries together."""
MOST_BYTES = 512 * 2**20
_LOOPBACK = ("127.0.0.1", "localhost", "::1")

Fetch = Callable[[str, bytes, float], bytes]
"""Posts a form to a URL and returns the body, within so many seconds."""


class PrometheusError(Exception):
    """It did not answer, or not as a Prometheus does; `str()` is one line."""


class Prometheus:
    """Range queries to one server."""

    def __init__(
        self,
        url: str,
        *,
        fetch: Fetch | None = None,
        deadline_seconds: float = DEADLINE_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """ValueError for what is no http address."""
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
            raise ValueError(f"{url!r} is not an address such as http://127.0.0.1:9090")
        self.url = url.rstrip("/")
        self._fetch = fetch or _post
        self._clock = clock
        self._until = clock() + deadline_seconds

    def matrix(self, query: str, *, start: float, end: float, step: float) -> Sequence[dict[str, Any]]:
        """`data.result` of a range query. PrometheusError when there is none."""
        form = {"query": query, "start": f"{start:.3f}", "end": f"{end:.3f}", "step": f"{step:.3f}"}
        return self._result("query_range", form, "matrix")

    def vector(self, query: str, *, at: float) -> Sequence[dict[str, Any]]:
        """`data.result` of an instant query."""
        return self._result("query", {"query": query, "time": f"{at:.3f}"}, "vector")

    def _result(self, path: str, form: dict[str, str], kind: str) -> Sequence[dict[str, Any]]:
        left = self._until - self._clock()
        if left <= 0:
            raise PrometheusError(f"{self.url} takes too long")
        body = self._fetch(f"{self.url}/api/v1/{path}", urlencode(form).encode(), left)
        try:
            answer: Any = _parsed(body)
            if answer["status"] != "success":
                raise PrometheusError(f"{self.url} refuses a query: {str(answer.get('error', 'no reason'))[:200]}")
            result = answer["data"]["result"]
            if answer["data"]["resultType"] != kind or not all(isinstance(row, dict) for row in result):
                raise ValueError
        except (ValueError, KeyError, TypeError, RecursionError):
            raise PrometheusError(f"what answers at {self.url} is no Prometheus") from None
        rows: Sequence[dict[str, Any]] = result
        return rows


@contextmanager
def without_collector() -> Iterator[None]:
    """Python's cyclic collector off: a million small objects, all in use, would be looked through again and again."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def _parsed(body: bytes) -> Any:
    with without_collector():
        return json.loads(body)


def _post(url: str, form: bytes, seconds: float) -> bytes:
    until = time.monotonic() + seconds
    # A proxy from the environment must not be asked for this very machine.
    proxies = [ProxyHandler({})] if urlsplit(url).hostname in _LOOPBACK else []
    server = url.partition("/api/")[0]
    try:
        with build_opener(*proxies).open(Request(url, data=form), timeout=seconds) as answer:
            return _read(answer.read1, server, until)
    except HTTPError as error:
        # A refusal is an answer of Prometheus too, with its reason inside.
        return error.read(1_000_000)
    except (OSError, HTTPException) as error:
        cause = getattr(error, "reason", error)
        reason = (getattr(cause, "strerror", None) or str(cause) or type(cause).__name__).lower()
        raise PrometheusError(f"no Prometheus answers at {server} ({reason})") from None


def _read(read: Callable[[int], bytes], server: str, until: float) -> bytes:
    # The socket's timeout is per operation; a server that drips must not hold us for ever.
    chunks: list[bytes] = []
    size = 0
    while chunk := read(1 << 20):
        chunks.append(chunk)
        size += len(chunk)
        if size > MOST_BYTES:
            raise PrometheusError(f"{server} answers with more than {MOST_BYTES} bytes")
        if time.monotonic() > until:
            raise PrometheusError(f"{server} takes too long")
    return b"".join(chunks)
