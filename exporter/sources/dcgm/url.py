"""The address of a dcgm-exporter, as a person gives it."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit, urlunsplit

_FLAG = "--dcgm-url"
_PATH = "/metrics"
_EXAMPLE = "http://127.0.0.1:9400/metrics"


@dataclass(frozen=True, slots=True)
class Address:
    """An address that can be asked."""

    url: str
    """Complete, user and password included."""
    shown: str
    """For messages: without user, password and query."""
    host: str

    @property
    def loopback(self) -> bool:
        """Whether it is this machine."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False


def address(url: str) -> Address:
    """The address `url`; `/metrics` where it has no path.

    ValueError naming --dcgm-url for anything but http and https with a host. The text of the error never holds a
    password.
    """
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        raise ValueError(f"{_FLAG}: not a URL: host and port must be as in {_EXAMPLE}") from None
    if parts.scheme not in ("http", "https"):
        given = repr(parts.scheme) if "://" in url else "none"
        raise ValueError(f"{_FLAG}: the scheme must be http or https, as in {_EXAMPLE}; it is {given}")
    if not host or not all(" " < letter < "\x7f" for letter in url):
        raise ValueError(f"{_FLAG}: there must be a host and no blank or non-ASCII character, as in {_EXAMPLE}")
    named = f"[{host}]" if ":" in host else host
    place = named if port is None else f"{named}:{port}"
    path = parts.path if parts.path not in ("", "/") else _PATH
    shown = urlunsplit(SplitResult(parts.scheme, place, path, "", ""))
    complete = urlunsplit(SplitResult(parts.scheme, parts.netloc, path, parts.query, ""))
    return Address(complete, shown, host)
