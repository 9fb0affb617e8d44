"""Which ports and images the lab and its containers will ask for: option over shell over .env over default."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

ENV_FILE = ".env"
COMPOSE_FILE = "docker-compose.yml"


@dataclass(frozen=True, slots=True)
class Port:
    """A port that a service will ask for."""

    service: str
    """lab, prometheus or grafana."""
    text: str
    """As it was found; it may be no port at all."""
    key: str
    """Where it was found."""
    host: str = "127.0.0.1"
    """Address that the service will listen at."""

    @property
    def number(self) -> int | None:
        """The port; None for what is none. 0 means any free one."""
        digits = self.text.isascii() and self.text.isdigit() and len(self.text) <= 5
        return int(self.text) if digits and int(self.text) <= 65_535 else None


_FOR_OTHERS = ("lab", "grafana")
"""Services that BIND may show to other machines."""
_DEFAULTS = {"lab": "8000", "prometheus": "9090", "grafana": "3000"}


def ports(options: Mapping[str, int | None], environ: Mapping[str, str], env_file: Mapping[str, str]) -> list[Port]:
    """One for each service, in the order of `_DEFAULTS`; `options` are by service."""
    found = [_port(service, options.get(service), environ, env_file) for service in _DEFAULTS]
    bind = environ.get("BIND") or env_file.get("BIND")
    return [replace(port, host=bind) if bind and port.service in _FOR_OTHERS else port for port in found]


def _port(service: str, option: int | None, environ: Mapping[str, str], env_file: Mapping[str, str]) -> Port:
    if option is not None:
        return Port(service, str(option), f"--{service}-port")
    variable = f"{service.upper()}_PORT"
    # `stepscope lab` listens at this one, the containers publish the other.
    if service == "lab" and environ.get("STEPSCOPE_PORT"):
        return Port(service, environ["STEPSCOPE_PORT"], "STEPSCOPE_PORT")
    if environ.get(variable):
        return Port(service, environ[variable], variable)
    if variable in env_file:
        return Port(service, env_file[variable], f"{variable} in {ENV_FILE}")
    return Port(service, _DEFAULTS[service], "default")


def read_env_file(folder: Path) -> dict[str, str]:
    """Variables that Compose takes from the folder's .env; none when there is no such file."""
    try:
        lines = (folder / ENV_FILE).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return {}
    pairs = (line.strip().partition("=") for line in lines if "=" in line and not line.lstrip().startswith("#"))
    return {name.strip(): value.strip().strip("'\"") for name, _, value in pairs}


def find_folder(asked: Path | None, *, here: Path, source: Path) -> Path:
    """Where the Compose file should be: the folder asked for, else this one, else that of the source if it has one."""
    if asked is not None:
        return asked
    return source if not (here / COMPOSE_FILE).is_file() and (source / COMPOSE_FILE).is_file() else here
