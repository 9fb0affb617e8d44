"""The part of the Docker SDK that is used here; a test's fake has this shape."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol


class Container(Protocol):
    """A container as the SDK shows it; `attrs` is as old as the last `reload`."""

    @property
    def id(self) -> str:
        """In full."""

    @property
    def name(self) -> str:
        """Without the slash."""

    @property
    def status(self) -> str:
        """running, paused, exited and so on."""

    @property
    def attrs(self) -> Mapping[str, Any]:
        """What `docker inspect` prints."""

    @property
    def labels(self) -> Mapping[str, str]:
        """Its labels."""

    def reload(self) -> None:
        """Ask the engine again."""

    def pause(self) -> None:
        """Freeze its processes."""

    def unpause(self) -> None:
        """Thaw them."""

    def start(self) -> None:
        """Start it again."""

    def stop(self) -> None:
        """Stop it within its own grace period."""

    def kill(self) -> None:
        """SIGKILL."""

    def update(self, *, cpu_quota: int) -> object:
        """Microseconds of CPU in each scheduler period; -1 for no limit."""

    def stats(self, *, stream: bool, one_shot: bool | None = None) -> Mapping[str, Any]:
        """One reading of its cgroup."""


class Containers(Protocol):
    """`client.containers`."""

    def list(self, *, all: bool, filters: Mapping[str, Any]) -> Sequence[Container]:  # noqa: A002 (the SDK's name)
        """Those that match, stopped ones too."""

    def get(self, container_id: str) -> Container:
        """One; docker.errors.NotFound when there is none."""


class Network(Protocol):
    """A network."""

    def connect(self, container: str, **endpoint: Any) -> None:
        """Give a container an endpoint here."""

    def disconnect(self, container: str, *, force: bool = False) -> None:
        """Take it away."""


class Networks(Protocol):
    """`client.networks`."""

    def get(self, network_id: str) -> Network:
        """One; docker.errors.NotFound when there is none."""


class Client(Protocol):
    """`docker.DockerClient`."""

    @property
    def containers(self) -> Containers:
        """Its containers."""

    @property
    def networks(self) -> Networks:
        """Its networks."""

    def info(self) -> Mapping[str, Any]:
        """About the engine."""

    def close(self) -> None:
        """Let go of the connections."""
