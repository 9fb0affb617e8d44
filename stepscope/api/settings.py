"""Where the lab listens and who may do what: environment over file over default."""

from __future__ import annotations

import secrets
import tomllib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path

DEFAULT_HOST = "127.0.0.1"
DEFAULT_PORT = 8000
DEFAULT_HOSTS = ("localhost", "127.0.0.1", "[::1]", "simulator")
"""Hosts that a request may always name; others are refused, so that no foreign page can rebind its name to us."""

_KEYS = ("host", "port", "token", "token_file", "open_writes", "published_on", "allowed_hosts", "hostname_label")
_HOSTNAME_LABELS = ("Hostname", "hostname")
_WILDCARDS = ("0.0.0.0", "::")
_TRUE = ("1", "true", "yes", "on")
_FALSE = ("", "0", "false", "no", "off")


class SettingsError(ValueError):
    """A setting that cannot be used; the message is one line and names the key."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What the HTTP side of the lab needs to know."""

    host: str = DEFAULT_HOST
    port: int = DEFAULT_PORT
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24), repr=False)
    """Bearer token; made at random when nobody set one."""
    token_is_made: bool = True
    """Whether the token was made here, so that it has to be shown once."""
    token_file: Path | None = None
    """Where the token is shared with other programs; see `stepscope.api.token_file`."""
    open_writes: bool = False
    """Something else guards the port: writes need no token although the address is not loopback."""
    published_on: str = ""
    """Address at which a container engine publishes the port: it, and not `host`, says who can reach the lab."""
    allowed_hosts: tuple[str, ...] = DEFAULT_HOSTS
    hostname_label: str = "Hostname"
    """How GPU families spell the label of the host: dcgm-exporter wrote `Hostname`, and writes `hostname` now."""

    @property
    def writes_need_token(self) -> bool:
        """Whether a request that changes something must carry the token."""
        return not (self.open_writes or is_loopback(self.published_on or self.host))


def load_settings(
    environ: Mapping[str, str], *, file: Path | None = None, overrides: Mapping[str, object] | None = None
) -> Settings:
    """Read settings; `overrides` (command line) win over the environment, that over the TOML file, that over defaults.

    The file is `file`, else what `STEPSCOPE_CONFIG` names, else none. Keys: host, port, token, token_file,
    open_writes, published_on, allowed_hosts, hostname_label; in the environment they are upper case with `STEPSCOPE_`
    before. Raises `SettingsError`.
    """
    named = environ.get("STEPSCOPE_CONFIG", "")
    path = file or (Path(named) if named else None)
    found: dict[str, tuple[str, object]] = {}
    if path is not None:
        found.update({key: (f"{path}: {key}", value) for key, value in _read_file(path).items()})
    for key in _KEYS:
        variable = f"STEPSCOPE_{key.upper()}"
        if variable in environ:
            found[key] = (variable, environ[variable])
    for key, value in (overrides or {}).items():
        if value is not None:
            found[key] = (f"--{key.replace('_', '-')}", value)
    return _build(found)


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a server that binds to `host`."""
    if host == "localhost":
        return True
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def _build(found: Mapping[str, tuple[str, object]]) -> Settings:
    host = _text(*found["host"]) if "host" in found else DEFAULT_HOST
    token = checked_token(*found["token"]) if "token" in found else ""
    published_on = _address(*found["published_on"]) if "published_on" in found else ""
    hosts = list(DEFAULT_HOSTS)
    for place in (host, published_on):
        name = f"[{place}]" if ":" in place else place.lower()
        if place and place not in _WILDCARDS and name not in hosts:
            hosts.append(name)
    if "allowed_hosts" in found:
        hosts += [name for name in _hosts(*found["allowed_hosts"]) if name not in hosts]
    return Settings(
        host=host,
        port=_port(*found["port"]) if "port" in found else DEFAULT_PORT,
        token=token or secrets.token_urlsafe(24),
        token_is_made=not token,
        token_file=_file(*found["token_file"]) if "token_file" in found else None,
        open_writes=_flag(*found["open_writes"]) if "open_writes" in found else False,
        published_on=published_on,
        allowed_hosts=tuple(hosts),
        hostname_label=_spelling(*found["hostname_label"]) if "hostname_label" in found else "Hostname",
    )


def _read_file(path: Path) -> dict[str, object]:
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SettingsError(f"{path}: cannot be read ({error.strerror})") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path}: is not TOML ({error})") from error
    for key in content:
        if key not in _KEYS:
            raise SettingsError(f"{path}: {key} is not a setting; the settings are {', '.join(_KEYS)}")
    return content


def _text(key: str, value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        raise SettingsError(f"{key}: must be a host name or an address")
    return value.strip()


def _address(key: str, value: object) -> str:
    if value == "":
        return ""
    # What a container engine cannot read as an address, a name or a space before it, it publishes on every address.
    if isinstance(value, str) and "%" not in value:
        with suppress(ValueError):
            ip_address(value)
            return value
    raise SettingsError(f"{key}: {value!r} is not an IP address; for this machine alone it is 127.0.0.1")


def _spelling(key: str, value: object) -> str:
    if isinstance(value, str) and value in _HOSTNAME_LABELS:
        return value
    raise SettingsError(f"{key}: {value!r} is not one of {', '.join(_HOSTNAME_LABELS)}")


def _file(key: str, value: object) -> Path | None:
    if not isinstance(value, str):
        raise SettingsError(f"{key}: must be the path of a file")
    return Path(value) if value else None


def _port(key: str, value: object) -> int:
    if isinstance(value, str) and value.isascii() and value.isdigit():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= 65535:
        raise SettingsError(f"{key}: {value!r} is not a port; it must be a whole number from 0 to 65535")
    return value


def checked_token(key: str, value: object) -> str:
    """A token that can be used, or empty; `SettingsError` that names `key` for any other."""
    if not isinstance(value, str):
        raise SettingsError(f"{key}: must be text")
    if value and (len(value) < 8 or not value.isascii() or not value.isprintable() or " " in value):
        raise SettingsError(f"{key}: must have at least 8 printable ASCII characters and no space")
    return value


def _flag(key: str, value: object) -> bool:
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.lower() in _TRUE + _FALSE:
        return value.lower() in _TRUE
    raise SettingsError(f"{key}: {value!r} is not a switch; it must be 1 or 0")


def _hosts(key: str, value: object) -> list[str]:
    names = value.split(",") if isinstance(value, str) else value
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise SettingsError(f"{key}: must be host names with commas between them")
    cleaned = [name.strip().lower() for name in names if name.strip()]
    for name in cleaned:
        if "/" in name or "*" in name or (":" in name and not name.startswith("[")):
            raise SettingsError(f"{key}: {name!r} is not a host name; give names without scheme, port or wildcard")
    return cleaned
