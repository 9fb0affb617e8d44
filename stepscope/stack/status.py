"""The state of the whole stack at one moment."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from docker.errors import InvalidVersion

from stepscope.stack.client import Container
from stepscope.stack.errors import GoneError, one_line
from stepscope.stack.lease import Lease
from stepscope.stack.project import Project, service_of
from stepscope.stack.prometheus import Watched, ask

PROMETHEUS = ("prometheus", "9090/tcp")
"""Service and port of the Prometheus that watches the lab."""
_EVERYWHERE = {"": "127.0.0.1", "0.0.0.0": "127.0.0.1", "::": "127.0.0.1"}


@dataclass(frozen=True, slots=True)
class Service:
    """One container."""

    service: str
    container: str
    state: str
    health: str
    """healthy, starting, unhealthy, or empty without a healthcheck."""
    ports: tuple[str, ...]
    """host:port->port for each that is published."""
    image: str
    restarts: int
    memory_bytes: int | None
    """As `docker stats` counts it; None for what does not run."""
    chaos: str
    """What is broken on purpose; empty for nothing."""

    @property
    def ok(self) -> bool:
        """Whether it runs, and is healthy where anybody asks."""
        return self.state == "running" and self.health in ("", "healthy")

    @property
    def says(self) -> str:
        """In one word. The health of what does not run is that of yesterday."""
        return self.health or self.state if self.state == "running" else self.state


@dataclass(frozen=True, slots=True)
class Status:
    """All of it."""

    project: str
    services: tuple[Service, ...]
    prometheus: Watched | None
    """None when the project has no Prometheus that is published."""

    @property
    def problems(self) -> tuple[str, ...]:
        """What is not as it should be, in one line each; none means that all is well."""
        told = [f"{each.service} is {each.says}" for each in self.services if not each.ok]
        watched = self.prometheus
        if watched is None:
            told.append("no Prometheus of this project publishes its port")
        elif not watched.reachable:
            told.append(f"Prometheus at {watched.url} does not answer: {watched.detail}")
        else:
            if watched.targets_up < watched.targets:
                told.append(f"{watched.targets - watched.targets_up} of {watched.targets} targets are down")
            if not watched.mfu:
                told.append("no MFU is stored yet")
        return tuple(told)


def look(project: Project, leases: Iterable[Lease], *, watch: Callable[[str], Watched] = ask) -> Status:
    """At the project's containers and its Prometheus; StackError when there are no containers."""
    containers = project.containers()
    broken = {lease.container: lease.says for lease in leases}
    services = tuple(_service(container, broken.get(container.id, "")) for container in containers)
    url = _published(containers, *PROMETHEUS)
    return Status(project.name, services, watch(url) if url else None)


def _service(container: Container, chaos: str) -> Service:
    attrs = container.attrs
    state = attrs["State"]
    return Service(
        service=service_of(container),
        container=container.name,
        state=container.status,
        health=(state.get("Health") or {}).get("Status", "").replace("none", ""),
        ports=tuple(sorted({f"{host}:{port}->{inside}" for host, port, inside in _bindings(container)})),
        image=attrs["Config"]["Image"],
        restarts=int(attrs.get("RestartCount") or 0),
        memory_bytes=_memory(container) if container.status in ("running", "paused") else None,
        chaos=chaos,
    )


def _bindings(container: Container) -> list[tuple[str, str, str]]:
    ports: Mapping[str, Sequence[Mapping[str, str]] | None] = container.attrs["NetworkSettings"].get("Ports") or {}
    return [
        (f"[{binding['HostIp']}]" if ":" in binding["HostIp"] else binding["HostIp"], binding["HostPort"], inside)
        for inside, bindings in ports.items()
        for binding in bindings or ()
    ]


def _published(containers: Sequence[Container], service: str, port: str) -> str:
    for container in containers:
        if service_of(container) == service:
            for host, number, inside in _bindings(container):
                if inside == port:
                    return f"http://{_EVERYWHERE.get(host.strip('[]'), host)}:{number}"
    return ""


def _memory(container: Container) -> int | None:
    """Without the page cache that the kernel could drop, as Docker's command line counts."""
    try:
        with one_line():
            stats = _stats(container).get("memory_stats") or {}
    except GoneError:
        return None
    usage = stats.get("usage")
    if usage is None:
        return None
    detail: Mapping[str, Any] = stats.get("stats") or {}
    cache = detail.get("total_inactive_file", detail.get("inactive_file", 0))
    return int(usage - cache) if cache < usage else int(usage)


def _stats(container: Container) -> Mapping[str, Any]:
    try:
        return container.stats(stream=False, one_shot=True)
    except InvalidVersion:
        # An engine that is older than that question takes a second to answer.
        return container.stats(stream=False)
