"""An engine in memory: the shape that stepscope.stack.client describes, the behaviour that was seen of Docker."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from docker.errors import APIError, InvalidVersion, NotFound

from stepscope.stack.project import OPT_IN

PROJECT = "stepscope"
ENGINE = "ENGINE:1"
MIB = 2**20


class Refused(APIError):
    """As the engine words a refusal."""

    def __init__(self, explanation: str) -> None:
        super().__init__("409 Client Error", explanation=explanation)


class Missing(NotFound):
    """As the engine words an absence."""

    def __init__(self, explanation: str) -> None:
        super().__init__("404 Client Error", explanation=explanation)


@dataclass
class FakeContainer:
    """One container; `fails` maps a call to the error that it raises."""

    service: str
    engine: FakeEngine
    opted_in: bool = True
    id: str = ""
    status: str = "running"
    health: str | None = "healthy"
    ports: Mapping[str, Any] = field(default_factory=dict)
    nano_cpus: int = 0
    cpu_quota: int = 0
    cpu_period: int = 0
    restarts: int = 0
    quotas: list[int] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)
    fails: dict[str, BaseException] = field(default_factory=dict)
    one_shot: bool = True
    memory: Mapping[str, Any] | None = None
    on_pause: Callable[[], None] | None = None
    more_labels: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.id = self.id or f"{self.service}-id".ljust(64, "0")
        self.engine.network.members[self.id] = {
            "NetworkID": self.engine.network.id,
            "Aliases": [self.name, self.service, self.id[:12]],
            "IPAMConfig": None,
            "Links": None,
            "DriverOpts": None,
        }

    @property
    def name(self) -> str:
        return f"{PROJECT}-{self.service}-1"

    @property
    def labels(self) -> Mapping[str, str]:
        own = {"com.docker.compose.service": self.service, "com.docker.compose.container-number": "1"}
        return own | ({OPT_IN: "true"} if self.opted_in else {}) | dict(self.more_labels)

    @property
    def attrs(self) -> Mapping[str, Any]:
        network = self.engine.network
        connected = {network.name: network.members[self.id]} if self.id in network.members else {}
        return {
            "State": {"Status": self.status, **({"Health": {"Status": self.health}} if self.health else {})},
            "Config": {"Image": f"{self.service}:1"},
            "RestartCount": self.restarts,
            "HostConfig": {"NanoCpus": self.nano_cpus, "CpuQuota": self.cpu_quota, "CpuPeriod": self.cpu_period},
            "NetworkSettings": {"Networks": connected, "Ports": self.ports if connected else {}},
        }

    def _call(self, name: str) -> None:
        self.calls.append(name)
        if name in self.fails:
            raise self.fails[name]

    def reload(self) -> None:
        self._call("reload")

    def pause(self) -> None:
        self._call("pause")
        self.status = "paused"
        if self.on_pause is not None:
            self.on_pause()

    def unpause(self) -> None:
        self._call("unpause")
        if self.status != "paused":
            raise Refused(f"Container {self.id} is not paused.")
        self.status = "running"

    def start(self) -> None:
        self._call("start")
        self.status = "running"

    def stop(self) -> None:
        self._call("stop")
        self.status = "exited"

    def kill(self) -> None:
        self._call("kill")
        self.status = "exited"

    def update(self, *, cpu_quota: int) -> object:
        self._call("update")
        self.quotas.append(cpu_quota)
        # As the engine: 0 leaves what there is.
        self.cpu_quota = cpu_quota or self.cpu_quota
        return {"Warnings": None}

    def stats(self, *, stream: bool, one_shot: bool | None = None) -> Mapping[str, Any]:
        assert not stream
        self._call("stats")
        if one_shot and not self.one_shot:
            raise InvalidVersion("one_shot is not supported for API version < 1.41")
        usual = {"usage": 60 * MIB, "stats": {"inactive_file": 10 * MIB}}
        return {"memory_stats": usual if self.memory is None else self.memory}


@dataclass
class FakeNetwork:
    """One network and its endpoints by container id."""

    name: str = f"{PROJECT}_default"
    id: str = "network-id"
    members: dict[str, Any] = field(default_factory=dict)
    fails: dict[str, BaseException] = field(default_factory=dict)

    def connect(self, container: str, **endpoint: Any) -> None:
        if "connect" in self.fails:
            raise self.fails["connect"]
        self.members[container] = {
            "NetworkID": self.id,
            "Aliases": [*endpoint.get("aliases", []), container[:12]],
            "IPAMConfig": {"IPv4Address": endpoint["ipv4_address"]} if "ipv4_address" in endpoint else None,
            "Links": [":".join(link) for link in endpoint["links"]] if "links" in endpoint else None,
            "DriverOpts": endpoint.get("driver_opt"),
        }

    def disconnect(self, container: str, *, force: bool = False) -> None:
        if "disconnect" in self.fails:
            raise self.fails["disconnect"]
        del self.members[container]


@dataclass
class FakeEngine:
    """A client and its engine in one."""

    network: FakeNetwork = field(default_factory=FakeNetwork)
    there: dict[str, FakeContainer] = field(default_factory=dict)
    """By service."""
    networks_gone: bool = False
    fails: Exception | None = None
    closed: bool = False
    asked: list[Mapping[str, Any]] = field(default_factory=list)

    def add(self, service: str, **more: Any) -> FakeContainer:
        """A container of a service."""
        self.there[service] = FakeContainer(service, self, **more)
        return self.there[service]

    @property
    def containers(self) -> FakeContainers:
        return FakeContainers(self)

    @property
    def networks(self) -> FakeNetworks:
        return FakeNetworks(self)

    def info(self) -> Mapping[str, Any]:
        if self.fails is not None:
            raise self.fails
        return {"ID": ENGINE}

    def close(self) -> None:
        self.closed = True


@dataclass
class FakeContainers:
    engine: FakeEngine

    def list(self, *, all: bool, filters: Mapping[str, Any]) -> Sequence[FakeContainer]:  # noqa: A002
        assert all, "stopped containers matter"
        self.engine.asked.append(filters)
        if self.engine.fails is not None:
            raise self.engine.fails
        wanted = [f"com.docker.compose.project={PROJECT}"]
        return list(self.engine.there.values()) if filters["label"] == wanted else []

    def get(self, container_id: str) -> FakeContainer:
        if self.engine.fails is not None:
            raise self.engine.fails
        for container in self.engine.there.values():
            if container.id == container_id:
                return container
        raise Missing(f"No such container: {container_id}")


@dataclass
class FakeNetworks:
    engine: FakeEngine

    def get(self, network_id: str) -> FakeNetwork:
        if self.engine.networks_gone or network_id != self.engine.network.id:
            raise Missing(f"network {network_id} not found")
        return self.engine.network


def stack() -> FakeEngine:
    """A healthy stack: simulator and prometheus opted in, grafana did not."""
    engine = FakeEngine()
    engine.add("simulator", ports={"8000/tcp": [{"HostIp": "127.0.0.1", "HostPort": "8000"}]})
    engine.add("prometheus", ports={"9090/tcp": [{"HostIp": "127.0.0.1", "HostPort": "9090"}]})
    engine.add("grafana", opted_in=False, ports={"3000/tcp": None})
    return engine
