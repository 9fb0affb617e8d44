"""One page of a dcgm-exporter over HTTP: bounded in time and size, and refused when it is something else."""

from __future__ import annotations

import time
from collections.abc import Callable

import requests
from requests.exceptions import RequestException
from urllib3.exceptions import HTTPError
from urllib3.exceptions import TimeoutError as PoolTimeoutError

from exporter.source import SourceError
from exporter.sources.dcgm.connection import Limit, LimitedAdapter
from exporter.sources.dcgm.url import address

MAX_BYTES = 64 * 2**20

FETCH_REASONS = (
    "timeout", "connect", "protocol", "status", "redirect", "content_type", "too_large", "truncated",
)  # fmt: skip
"""Why there is no page: too late; nobody there; not HTTP; an error answer; an answer that points elsewhere; not a page
of metrics, or packed; longer than allowed; ended before its end."""

_CHUNK_BYTES = 65_536
_LEAST_SECONDS = 0.001
_MEDIA = frozenset({"", "text/plain", "application/openmetrics-text"})
_HEADERS = {
    "Accept": "text/plain;version=0.0.4,text/plain;q=0.9,application/openmetrics-text;version=1.0.0;q=0.5",
    # A packed body would be bounded only after unpacking; on the way from the same machine it saves nothing.
    "Accept-Encoding": "identity",
    "Connection": "close",
    "User-Agent": "stepscope",
}


class DcgmClient:
    """Asks one dcgm-exporter. For one thread.

    Proxies, netrc and other settings of the environment are not looked at, redirects not followed, cookies not kept; no
    message holds the user, password or query of the address.
    """

    def __init__(
        self,
        url: str,
        *,
        session: requests.Session | None = None,
        max_bytes: int = MAX_BYTES,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """ValueError naming --dcgm-url for an address that cannot be one."""
        self.address = address(url)
        self._max_bytes = max_bytes
        self._clock = clock
        self._adapter = LimitedAdapter()
        self._session = session if session is not None else requests.Session()
        self._session.trust_env = False
        try:
            self._request = self._session.prepare_request(requests.Request("GET", self.address.url, headers=_HEADERS))
        except RequestException:
            raise ValueError(f"--dcgm-url: {self.address.shown} is not an address") from None

    def fetch(self, deadline: float) -> str:
        """The page, by `deadline`; what is not UTF-8 is replaced. SourceError with one of FETCH_REASONS otherwise."""
        with Limit(deadline, clock=self._clock) as limit:
            if limit.left <= 0.0:
                raise self._error("timeout", "was not asked: no time was left")
            self._adapter.limit = limit
            try:
                with self._answer(limit) as response:
                    self._check(response)
                    body = self._body(response, limit)
            finally:
                # A connection that is used again has no limit, and a server may close it at any moment.
                self._adapter.close()
        # Prometheus' own reader takes a zero for the end of the page.
        return body.decode("utf-8", errors="replace").removeprefix("\ufeff").replace("\0", "\ufffd")

    def close(self) -> None:
        """Give back what the session holds; another fetch opens a new connection, as every one does."""
        self._session.close()

    def _answer(self, limit: Limit) -> requests.Response:
        try:
            # Not through the session: even where it does not follow a redirect, it reads all of its body.
            return self._adapter.send(
                self._request,
                stream=True,
                timeout=max(limit.left, _LEAST_SECONDS),
                verify=self._session.verify is None or self._session.verify,
                cert=self._session.cert,
            )
        except (RequestException, HTTPError, OSError, ValueError) as error:
            if limit.over or _is_late(error):
                where = "did not answer" if limit.connected else "could not be reached"
                raise self._error("timeout", f"{where} in time") from None
            # Its text may hold the address with all that is in it, the innermost cause does not.
            if not limit.connected:
                raise self._error("connect", f"cannot be reached: {_cause(error)}") from None
            raise self._error("protocol", f"gave no HTTP answer: {_cause(error)}") from None

    def _check(self, response: requests.Response) -> None:
        if 300 <= response.status_code < 400:
            raise self._error("redirect", f"answers {response.status_code}: redirects are not followed")
        if response.status_code != 200:
            raise self._error("status", f"answers {response.status_code} instead of 200")
        media = response.headers.get("Content-Type", "").partition(";")[0].strip().lower()
        if media not in _MEDIA:
            raise self._error("content_type", f"answers with {media[:80]!r}, which is not a page of metrics")
        packed = response.headers.get("Content-Encoding", "identity").strip().lower()
        if packed != "identity":
            raise self._error("content_type", f"packs its answer with {packed[:80]!r}, which was not asked for")
        announced = response.headers.get("Content-Length", "")
        if announced.isascii() and announced.isdigit() and int(announced[:20]) > self._max_bytes:
            raise self._too_large()

    def _body(self, response: requests.Response, limit: Limit) -> bytes:
        parts: list[bytes] = []
        size = 0
        try:
            for part in response.raw.stream(_CHUNK_BYTES, decode_content=False):
                size += len(part)
                if size > self._max_bytes:
                    raise self._too_large()
                parts.append(part)
        except (HTTPError, OSError) as error:
            if not (limit.over or _is_late(error)):
                raise self._error("truncated", f"ended its answer after {size} bytes, too early") from None
            limit.over = True
        if limit.over:
            raise self._error("timeout", f"sent {size} bytes and did not end in time")
        return b"".join(parts)

    def _too_large(self) -> SourceError:
        return self._error("too_large", f"answers with more than {self._max_bytes} bytes")

    def _error(self, reason: str, what: str) -> SourceError:
        assert reason in FETCH_REASONS
        return SourceError(reason, f"{self.address.shown} {what}.")


def _is_late(error: BaseException) -> bool:
    late = (requests.exceptions.Timeout, PoolTimeoutError, TimeoutError)
    return isinstance(error, late) or isinstance(_innermost(error), late)


def _cause(error: BaseException) -> str:
    """What failed in the end, without any address."""
    inner = _innermost(error)
    return inner.strerror if isinstance(inner, OSError) and inner.strerror else type(inner).__name__


def _innermost(error: BaseException) -> BaseException:
    seen = {id(error)}
    while (inner := _inner(error)) is not None and id(inner) not in seen:
        seen.add(id(inner))
        error = inner
    return error


def _inner(error: BaseException) -> BaseException | None:
    if error.__cause__ is not None or error.__context__ is not None:
        return error.__cause__ or error.__context__
    inner = next((item for item in error.args if isinstance(item, BaseException)), None)
    reason = getattr(error, "reason", None)
    return inner or (reason if isinstance(reason, BaseException) else None)
