"""A small client for the lab and for Prometheus, on the standard library alone, sharing no code with either."""

from __future__ import annotations

import json
import urllib.error
import urllib.parse
import urllib.request
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Answer:
    """Status, headers and body of a response."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """The body as JSON."""
        return json.loads(self.body)

    @property
    def text(self) -> str:
        """The body as UTF-8."""
        return self.body.decode("utf-8")


def request(
    url: str,
    *,
    method: str = "GET",
    json_body: object = None,
    headers: dict[str, str] | None = None,
    timeout: float = 10,
) -> Answer:
    """One request; every HTTP status is an answer, a connection that fails raises OSError."""
    data = None if json_body is None else json.dumps(json_body).encode()
    sent = urllib.request.Request(url, data=data, method=method, headers=dict(headers or {}))
    if data is not None:
        sent.add_header("Content-Type", "application/json")
    try:
        with urllib.request.urlopen(sent, timeout=timeout) as response:
            return Answer(response.status, _lower(response.headers.items()), response.read())
    except urllib.error.HTTPError as error:
        with error:
            return Answer(error.code, _lower(error.headers.items()), error.read())


def query_string(**values: str | float) -> str:
    """Values as they stand in a URL."""
    return urllib.parse.urlencode(values)


def _lower(headers: Any) -> dict[str, str]:
    return {name.lower(): value for name, value in headers}
