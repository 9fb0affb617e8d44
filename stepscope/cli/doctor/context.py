"""Which engine Docker's programs will talk to: the same choice that they make, from files and environment alone."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from stepscope.api.settings import is_loopback

_LOCAL_SCHEMES = ("unix", "npipe", "fd")


@dataclass(frozen=True, slots=True)
class Context:
    """An engine's address."""

    name: str
    endpoint: str
    """Empty for the default of the system; its socket is on this machine."""
    error: str = ""
    """Why the address could not be found."""

    @property
    def local(self) -> bool:
        """Whether the engine is on this machine, so that it may be asked and its ports are ours."""
        parts = urlsplit(self.endpoint)
        return not self.endpoint or parts.scheme in _LOCAL_SCHEMES or is_loopback(parts.hostname or "")


def look(environ: Mapping[str, str], *, home: Path) -> Context:
    """DOCKER_HOST before DOCKER_CONTEXT before the context in use."""
    if environ.get("DOCKER_HOST"):
        return Context("DOCKER_HOST", environ["DOCKER_HOST"])
    folder = Path(environ.get("DOCKER_CONFIG") or home / ".docker")
    name = environ.get("DOCKER_CONTEXT") or str(_json(folder / "config.json").get("currentContext") or "default")
    if name == "default":
        return Context(name, "")
    meta = _json(folder / "contexts" / "meta" / hashlib.sha256(name.encode()).hexdigest() / "meta.json")
    endpoints = meta.get("Endpoints")
    docker = endpoints.get("docker") if isinstance(endpoints, dict) else None
    host = docker.get("Host") if isinstance(docker, dict) else None
    if not isinstance(host, str):
        return Context(name, "", error=f"there is no context {name!r}")
    return Context(name, host)


def _json(path: Path) -> dict[str, object]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
