"""As much of a Compose file as matters here: which services start, from which images, and what they mount."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

_VARIABLE = re.compile(r"\$\{(\w+)(?::?[-?]([^}]*))?\}")
_NEEDED = re.compile(r"\$\{(\w+):\?")


@dataclass(frozen=True, slots=True)
class Mount:
    """A path of this machine that a service mounts."""

    source: str
    """Relative to the file."""
    labelled: bool
    """Whether SELinux is told to let the container read it."""


@dataclass(frozen=True, slots=True)
class Service:
    """One that starts."""

    name: str
    image: str
    """Empty when nothing names it."""
    base: str
    """Image that it is built from; empty when it is not built, or nothing names it."""
    mounts: tuple[Mount, ...]


def needed(text: str) -> list[str]:
    """Variables that the file insists on."""
    return sorted(set(_NEEDED.findall(text)))


def services(text: str, values: Mapping[str, str]) -> list[Service]:
    """Services that `docker compose up` starts under these variables. ValueError for what is no Compose file."""
    import yaml

    try:
        found = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ValueError(" ".join(str(error).split())) from None
    listed = found.get("services") if isinstance(found, dict) else None
    if not isinstance(listed, dict):
        raise ValueError("it has no services")
    profiles = {name.strip() for name in values.get("COMPOSE_PROFILES", "").split(",")}
    return [
        _service(name, service, values)
        for name, service in listed.items()
        if isinstance(service, dict) and _starts(service.get("profiles"), profiles)
    ]


def _starts(own: object, chosen: set[str]) -> bool:
    return not isinstance(own, list) or not own or "*" in chosen or bool(chosen & set(map(str, own)))


def _service(name: object, service: Mapping[str, Any], values: Mapping[str, str]) -> Service:
    build = service.get("build")
    arguments = build.get("args") if isinstance(build, dict) else None
    bases = [value for key, value in arguments.items() if "IMAGE" in key] if isinstance(arguments, dict) else []
    volumes = service.get("volumes")
    return Service(
        str(name),
        _filled(service.get("image"), values),
        _filled(bases[0] if bases else None, values),
        tuple(_mounts(volumes if isinstance(volumes, list) else [])),
    )


def _mounts(volumes: list[object]) -> Iterator[Mount]:
    for volume in volumes:
        if isinstance(volume, dict) and volume.get("type") == "bind":
            bind = volume.get("bind")
            yield Mount(str(volume.get("source")), isinstance(bind, dict) and "selinux" in bind)
        elif isinstance(volume, str) and volume.startswith("."):
            source, _, rest = volume.partition(":")
            yield Mount(source, bool({"z", "Z"} & set(rest.partition(":")[2].split(","))))


def _filled(text: object, values: Mapping[str, str]) -> str:
    """With the variables in their places; empty for what is not there."""
    return _VARIABLE.sub(lambda found: values.get(found[1]) or "", text) if isinstance(text, str) else ""
