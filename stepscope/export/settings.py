"""What `stepscope export` is told: command line over environment over default."""

from __future__ import annotations

import math
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from exporter.choice import AUTO
from exporter.collector import INTERVAL_SECONDS, MAX_AGE_SECONDS
from stepscope.api.settings import DEFAULT_HOST, SettingsError, is_loopback

DEFAULT_PORT = 9401
DEFAULT_DCGM_URL = "http://localhost:9400/metrics"
SOURCES = (AUTO, "nvml", "dcgm", "job")
_LABELS = ("Hostname", "hostname")
_MOST_SECONDS = 3600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportSettings:
    """One exporter."""

    sources: tuple[str, ...] = (AUTO,)
    """Of SOURCES, each once."""
    dcgm_url: str = DEFAULT_DCGM_URL
    host: str = DEFAULT_HOST
    port: int = DEFAULT_PORT
    allowed_hosts: tuple[str, ...] = ()
    """Names by which it may be called."""
    interval_seconds: float = INTERVAL_SECONDS
    max_age_seconds: float = MAX_AGE_SECONDS
    socket_path: str | None = None
    """Where recorders report; None for the usual places."""
    hostname: str
    """What series call this machine."""
    hostname_label: str = "Hostname"
    exit_after_failures: int = 0
    """End with a failure when a source has failed so often in a row; 0 for never."""

    @property
    def is_local(self) -> bool:
        """Whether only this machine can reach it."""
        return is_loopback(self.host)


KEYS = (
    "source", "dcgm_url", "host", "port", "allowed_hosts", "interval", "max_age", "socket", "hostname",
    "hostname_label", "exit_after_failures",
)  # fmt: skip


def load_export_settings(
    environ: Mapping[str, str], overrides: Mapping[str, str | None] | None = None
) -> ExportSettings:
    """Settings from `overrides` (by key, as typed) and the variables STEPSCOPE_ and the key in upper case.

    Raises `SettingsError`, which names where the value came from. An empty variable is none.
    """
    found: dict[str, tuple[str, str]] = {}
    for key in KEYS:
        variable = f"STEPSCOPE_{key.upper()}"
        if environ.get(variable):
            found[key] = (variable, environ[variable])
        given = (overrides or {}).get(key)
        if given is not None:
            found[key] = (f"--{key.replace('_', '-')}", given)

    def take(key: str, default: str) -> tuple[str, str]:
        return found.get(key, (f"--{key.replace('_', '-')}", default))

    interval = _seconds(*take("interval", str(INTERVAL_SECONDS)), least=0.1)
    max_age = _seconds(*take("max_age", str(max(MAX_AGE_SECONDS, 2 * interval))), least=0.1)
    if max_age < interval:
        raise SettingsError(f"{take('max_age', '')[0]}: must be at least the interval of {interval:g} s")
    return ExportSettings(
        sources=_sources(*take("source", AUTO)),
        dcgm_url=_url(*take("dcgm_url", DEFAULT_DCGM_URL)),
        host=_text(*take("host", DEFAULT_HOST), "an address to listen at"),
        port=_whole(*take("port", str(DEFAULT_PORT)), most=65_535),
        allowed_hosts=_hosts(*take("allowed_hosts", "")),
        interval_seconds=interval,
        max_age_seconds=max_age,
        socket_path=_path(*take("socket", "")),
        hostname=_text(*take("hostname", socket.gethostname() or "localhost"), "the name of this machine"),
        hostname_label=_one_of(*take("hostname_label", _LABELS[0]), _LABELS),
        exit_after_failures=_whole(*take("exit_after_failures", "0"), most=1_000_000),
    )


def _sources(key: str, value: str) -> tuple[str, ...]:
    names = [name.strip() for name in value.split(",") if name.strip()]
    for name in names:
        if name not in SOURCES:
            raise SettingsError(f"{key}: {name!r} is not one of {', '.join(SOURCES)}")
    if not names:
        raise SettingsError(f"{key}: names no source; there are {', '.join(SOURCES)}")
    return tuple(dict.fromkeys(names))


def _url(key: str, value: str) -> str:
    try:
        parts = urlsplit(value)
        good = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        good = False
    if not good or not value.isprintable() or " " in value:
        # It may hold a password.
        raise SettingsError(f"{key}: is not an address of a dcgm-exporter, such as {DEFAULT_DCGM_URL}")
    return value


def _seconds(key: str, value: str, *, least: float) -> float:
    try:
        seconds = float(value) if "_" not in value else math.nan
    except ValueError:
        seconds = math.nan
    if not least <= seconds <= _MOST_SECONDS:
        raise SettingsError(f"{key}: {value!r} is not a number of seconds from {least:g} to {_MOST_SECONDS:g}")
    return seconds


def _whole(key: str, value: str, *, most: int) -> int:
    if not (value.isascii() and value.isdigit() and len(value) < 10 and int(value) <= most):
        raise SettingsError(f"{key}: {value!r} is not a whole number from 0 to {most}")
    return int(value)


def _text(key: str, value: str, what: str) -> str:
    text = value.strip()
    if not text or not text.isprintable() or len(text) > 253:
        raise SettingsError(f"{key}: must be {what}")
    return text


def _path(key: str, value: str) -> str | None:
    # The system's limit for the path of a socket.
    if len(value.encode()) > 107 or "\0" in value:
        raise SettingsError(f"{key}: must be a path of at most 107 bytes, as the system wants it for a socket")
    return value or None


def _one_of(key: str, value: str, valid: tuple[str, ...]) -> str:
    if value not in valid:
        raise SettingsError(f"{key}: {value!r} is not one of {', '.join(valid)}")
    return value


def _hosts(key: str, value: str) -> tuple[str, ...]:
    names = tuple(name.strip().lower() for name in value.split(",") if name.strip())
    for name in names:
        if "/" in name or "*" in name or (":" in name and not name.startswith("[")):
            raise SettingsError(f"{key}: {name!r} is not a host name; give names without scheme, port or wildcard")
    return names
