"""The containers of one compose project, and which of them may be broken."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from stepscope.stack.client import Client, Container
from stepscope.stack.errors import StackError, StackInputError, one_line

DEFAULT_NAME = "stepscope"
"""The name in docker-compose.yml; a test holds them together."""
OPT_IN = "stepscope.chaos"
"""A service with this label set to `true` may be broken."""

_PROJECT = "com.docker.compose.project"
_SERVICE = "com.docker.compose.service"
_NUMBER = "com.docker.compose.container-number"
_ONE_OFF = "com.docker.compose.oneoff"


def project_name(option: str | None, environ: Mapping[str, str]) -> str:
    """Option over COMPOSE_PROJECT_NAME over the name in the compose file."""
    return option or environ.get("COMPOSE_PROJECT_NAME") or DEFAULT_NAME


@dataclass(frozen=True, slots=True)
class Project:
    """A compose project on an engine."""

    client: Client
    name: str

    def containers(self) -> list[Container]:
        """Its services' containers, stopped ones too, by service and number; StackError when there are none."""
        with one_line():
            found = self.client.containers.list(all=True, filters={"label": [f"{_PROJECT}={self.name}"]})
        kept = [container for container in found if container.labels.get(_ONE_OFF, "False") != "True"]
        if not kept:
            raise StackError(
                f"project {self.name!r} has no containers on this engine: docker compose up -d --wait starts them, "
                "--project names another"
            )
        return sorted(kept, key=lambda container: (service_of(container), _number(container)))

    def breakable(self, service: str) -> Container:
        """The container of a service that opted in; StackInputError that lists those for any other."""
        containers = self.containers()
        opted = [container for container in containers if container.labels.get(OPT_IN) == "true"]
        chosen = next((container for container in opted if service_of(container) == service), None)
        if chosen is not None:
            return chosen
        valid = ", ".join(dict.fromkeys(map(service_of, opted))) or "none"
        known = service in map(service_of, containers)
        why = f"has not opted in (label {OPT_IN})" if known else f"is not a service of project {self.name!r}"
        raise StackInputError(f"SERVICE: {service!r} {why}; those that may be broken: {valid}")


def service_of(container: Container) -> str:
    """Name of the container's service."""
    return container.labels.get(_SERVICE, "")


def _number(container: Container) -> int:
    text = container.labels.get(_NUMBER, "")
    return int(text) if text.isdecimal() else 0
