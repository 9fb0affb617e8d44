"""A connection to the engine that Docker's own command line would use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

import docker
from docker.context import Context, ContextAPI
from docker.errors import DockerException

from stepscope.stack.client import Client
from stepscope.stack.errors import StackError, StackInputError, one_line, reason

TIMEOUT_SECONDS = 30
"""For one answer of the engine; stopping a container waits for its grace period."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where an engine is."""

    source: str
    """What chose it: DOCKER_HOST, or a context by name."""
    url: str


def connect(context: str | None, environ: Mapping[str, str]) -> Client:
    """A client of the engine: of `context`, else DOCKER_HOST, else DOCKER_CONTEXT, else the context in use.

    Raises StackInputError for a context that does not exist, StackError when no engine answers.
    """
    endpoint = find_endpoint(context, environ)
    options: dict[str, Any] = {"timeout": TIMEOUT_SECONDS, "use_ssh_client": True}
    try:
        if context is None and environ.get("DOCKER_HOST"):
            client = docker.from_env(environment=dict(environ), **options)
        else:
            client = docker.from_context(endpoint.source, **options)
    except (DockerException, OSError, ValueError) as error:
        raise StackError(
            f"no Docker engine answers at {endpoint.url} ({reason(error)}); docker context ls lists where else to ask"
        ) from error
    return cast(Client, client)


def find_endpoint(context: str | None, environ: Mapping[str, str]) -> Endpoint:
    """Which engine `connect` will ask."""
    if context is None and environ.get("DOCKER_HOST"):
        return Endpoint("DOCKER_HOST", environ["DOCKER_HOST"])
    name, key = (context, "--context") if context is not None else (environ.get("DOCKER_CONTEXT"), "DOCKER_CONTEXT")
    try:
        # None for a context that does not exist, whatever its annotation says.
        found = cast("Context | None", ContextAPI.get_context(name or None))
        known = ", ".join(each.name for each in ContextAPI.contexts()) if found is None else ""
    except Exception as error:  # the SDK raises a bare Exception for a file that it cannot read
        raise StackError(f"Docker's context cannot be read: {error}") from error
    if found is None:
        raise StackInputError(f"{key}: there is no context {name or 'in use'!r}; there are: {known}")
    return Endpoint(found.name, found.Host or "the default socket")


def engine_id(client: Client) -> str:
    """What tells this engine from others."""
    with one_line():
        return str(client.info().get("ID") or "unknown")
