"""A small client of the lab's REST API, on the standard library alone."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Mapping
from http.client import HTTPException, HTTPResponse
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import SplitResult, quote, urlencode, urlsplit
from urllib.request import HTTPRedirectHandler, OpenerDirector, ProxyHandler, Request, build_opener

from stepscope import __version__
from stepscope.api.settings import is_loopback
from stepscope.cli.errors import CliError, UsageError
from stepscope.cli.parser import server_token, server_url
from stepscope.cli.problem import refusal

TIMEOUT_SECONDS = 30.0
"""For a whole answer; a dry run on a large job simulates it first."""
MAX_ANSWER_BYTES = 64 * 2**20


class _NoRedirect(HTTPRedirectHandler):
    # Followed to another host, a redirect would take the token along.
    def redirect_request(self, *_: Any) -> None:
        return None


class Client:
    """Asks one lab. Every failure is a CliError of one line."""

    def __init__(
        self, url: str, *, key: str = "--url", token: str = "", timeout_seconds: float = TIMEOUT_SECONDS
    ) -> None:
        """`key` is where the URL came from, for messages. UsageError for one that is not an address."""
        parts = _checked(url, key)
        self.url = url.rstrip("/")
        self._token = token
        self._timeout = timeout_seconds
        self._start = _how_to_start(parts)
        # A proxy from the environment must not be asked for this very machine.
        proxies = [ProxyHandler({})] if is_loopback(parts.hostname or "") else []
        self._opener: OpenerDirector = build_opener(*proxies, _NoRedirect())

    @classmethod
    def of(cls, args: argparse.Namespace) -> Client:
        """The client that the options `--url` and `--token`, or the environment, ask for."""
        url, key = server_url(args)
        return cls(url, key=key, token=server_token(args))

    def call(
        self,
        method: str,
        path: str,
        *,
        body: object = None,
        query: Mapping[str, str] | None = None,
        typed: Mapping[str, str] | None = None,
    ) -> Any:
        """The JSON value that the lab answers with; None for an empty answer. Raises CliError."""
        status, media_type, answer = self.exchange(method, path, body=body, query=query)
        if status >= 300:
            raise refusal(status, media_type, answer, url=self.url, typed=typed or {})
        if not answer:
            return None
        try:
            return json.loads(answer)
        except ValueError:
            raise refusal(status, media_type, b"", url=self.url, typed={}) from None

    def exchange(
        self, method: str, path: str, *, body: object = None, query: Mapping[str, str] | None = None
    ) -> tuple[int, str, bytes]:
        """Status, media type and content of the answer, whatever the status. CliError when there is no answer."""
        request = self._request(method, path, body, query)
        deadline = time.monotonic() + self._timeout
        try:
            try:
                response: Any = self._opener.open(request, timeout=self._timeout)
            except HTTPError as error:
                response = error
            with response:
                return response.status, response.headers.get_content_type(), self._read(response, deadline)
        except TimeoutError:
            raise self._no_answer(f"nothing came within {self._timeout:g} s") from None
        except URLError as error:
            raise self._no_answer(_reason(error.reason)) from None
        except (OSError, HTTPException) as error:
            raise self._no_answer(_reason(error)) from None

    def _request(self, method: str, path: str, body: object, query: Mapping[str, str] | None) -> Request:
        address = self.url + path + (f"?{urlencode(query)}" if query else "")
        request = Request(address, method=method)
        request.add_header("Accept", "application/json, application/problem+json")
        request.add_header("User-Agent", f"stepscope/{__version__}")
        if body is not None:
            request.data = json.dumps(body, allow_nan=False).encode()
            request.add_header("Content-Type", "application/json")
        if self._token:
            request.add_header("Authorization", f"Bearer {self._token}")
        return request

    def _read(self, response: HTTPResponse, deadline: float) -> bytes:
        # The socket's timeout is per operation; a server that drips must not hold us for ever.
        chunks: list[bytes] = []
        size = 0
        while chunk := response.read1(65_536):
            chunks.append(chunk)
            size += len(chunk)
            if time.monotonic() > deadline:
                raise TimeoutError
            if size > MAX_ANSWER_BYTES:
                raise CliError(f"{self.url} answers with more than {MAX_ANSWER_BYTES} bytes")
        return b"".join(chunks)

    def _no_answer(self, reason: str) -> CliError:
        return CliError(f"no lab answers at {self.url} ({reason}){self._start}")


def path_of(*parts: str) -> str:
    """A path under /v1 with each part escaped."""
    return "/v1/" + "/".join(quote(part, safe="", errors="backslashreplace") for part in parts)


def _checked(url: str, key: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port is None or parts.port > 0)
        url.encode("ascii")
    except ValueError:
        usable = False
    if not usable or parts.query or parts.fragment or parts.username or not url.isprintable() or " " in url:
        raise UsageError(f"{key}: {url!r} is not an address such as http://127.0.0.1:8000")
    return parts


def _how_to_start(parts: SplitResult) -> str:
    if not is_loopback(parts.hostname or ""):
        return "; is it running there, and is --url right?"
    port = f" --port {parts.port}" if parts.port not in (None, 8000) else ""
    return f"; start one: stepscope lab{port}"


def _reason(error: object) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror.lower()
    return str(error) or type(error).__name__
