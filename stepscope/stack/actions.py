"""Five ways in which monitoring fails: each knows what it must remember, how to break, and how to put back."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

from stepscope.stack.client import Client, Container
from stepscope.stack.errors import StackError

Memory = Mapping[str, Any]
"""What undoing needs, as JSON."""

DEFAULT_CPU_PERCENT = 3
"""Enough for a small lab and its healthcheck to answer within a scrape's timeout, late."""
_SCHEDULER_PERIOD = 100_000
"""Microseconds, where a container sets no other."""
_LEAST_QUOTA = 1_000
"""Microseconds; the kernel refuses less."""
_NO_LIMIT = -1
"""The engine takes 0 for: leave it as it is."""


class Action(ABC):
    """One way to break a container. `undo` may be called in any state, any number of times."""

    name: ClassVar[str]
    summary: ClassVar[str]
    done: ClassVar[str]
    """What the service is while it lasts."""
    look_at: ClassVar[str]
    """What Prometheus shows."""

    def remember(self, container: Container, *, cpu_percent: int) -> Memory:
        """What `undo` will need; StackError when the container cannot be broken so."""
        return {}

    @abstractmethod
    def do(self, client: Client, container: Container, memory: Memory) -> None:
        """Break it."""

    @abstractmethod
    def undo(self, client: Client, container: Container, memory: Memory) -> None:
        """Put back what is still broken; `container` is as the engine has it now."""


class Pause(Action):
    """Frozen: the kernel still accepts connections and nobody answers."""

    name = "pause"
    summary = "freeze it: a scrape hangs until its timeout"
    done = "paused"
    look_at = "up 0, scrape_duration_seconds at the scrape timeout; counters go on afterwards"

    def do(self, client: Client, container: Container, memory: Memory) -> None:
        container.pause()

    def undo(self, client: Client, container: Container, memory: Memory) -> None:
        if container.status == "paused":
            container.unpause()


class Stop(Action):
    """Stopped: Docker's DNS forgets the name."""

    name = "stop"
    summary = "stop it: its name is no longer found"
    done = "stopped"
    look_at = "up 0 within a millisecond, `no such host` on the targets page; counters start again at 0"

    def do(self, client: Client, container: Container, memory: Memory) -> None:
        container.stop()

    def undo(self, client: Client, container: Container, memory: Memory) -> None:
        if container.status not in ("running", "restarting", "paused"):
            container.start()


class Kill(Stop):
    """Killed: as stopped, without a farewell."""

    name = "kill"
    summary = "kill it: a gap, then counters that start again at 0"
    done = "killed"
    look_at = "up 0, then resets() of every counter 1, and rate() as if nothing had been lost"

    def do(self, client: Client, container: Container, memory: Memory) -> None:
        container.kill()


class Disconnect(Action):
    """Cut off: it runs, and Docker calls it healthy."""

    name = "disconnect"
    summary = "take it off its networks: it runs and nobody reaches it"
    done = "disconnected"
    look_at = "up 0 while docker ps says healthy; counters go on afterwards as if nothing had been"

    def remember(self, container: Container, *, cpu_percent: int) -> Memory:
        networks = container.attrs["NetworkSettings"]["Networks"] or {}
        if not networks:
            raise StackError(f"{container.name} is on no network")
        return {
            "networks": [
                {"name": name, "id": endpoint["NetworkID"], "endpoint": _endpoint(container, endpoint)}
                for name, endpoint in networks.items()
            ]
        }

    def do(self, client: Client, container: Container, memory: Memory) -> None:
        for network in memory["networks"]:
            client.networks.get(network["id"]).disconnect(container.id, force=True)

    def undo(self, client: Client, container: Container, memory: Memory) -> None:
        connected = container.attrs["NetworkSettings"]["Networks"] or {}
        for network in memory["networks"]:
            if network["name"] not in connected:
                client.networks.get(network["id"]).connect(container.id, **network["endpoint"])


class Throttle(Action):
    """Starved of CPU: it answers, late."""

    name = "throttle"
    summary = "leave it almost no CPU: scrapes get slow"
    done = "throttled"
    look_at = "up 1, scrape_duration_seconds ten times and more of what it was"

    def remember(self, container: Container, *, cpu_percent: int) -> Memory:
        limits = container.attrs["HostConfig"]
        if limits.get("NanoCpus"):
            raise StackError(f"{container.name} has a CPU limit (cpus:) that the engine does not let a quota change")
        before = limits.get("CpuQuota") or 0
        quota = max(_LEAST_QUOTA, (limits.get("CpuPeriod") or _SCHEDULER_PERIOD) * cpu_percent // 100)
        return {"before": before, "quota": min(quota, before) if before > 0 else quota}

    def do(self, client: Client, container: Container, memory: Memory) -> None:
        container.update(cpu_quota=memory["quota"])

    def undo(self, client: Client, container: Container, memory: Memory) -> None:
        container.update(cpu_quota=memory["before"] if memory["before"] > 0 else _NO_LIMIT)


ACTIONS: Mapping[str, Action] = {action.name: action for action in (Pause(), Stop(), Kill(), Disconnect(), Throttle())}


def _endpoint(container: Container, settings: Mapping[str, Any]) -> dict[str, Any]:
    """What Docker forgets on disconnecting: the service's name and whatever else the endpoint was given."""
    own = settings.get("IPAMConfig") or {}
    endpoint = {
        # The engine adds the short id by itself.
        "aliases": [alias for alias in settings.get("Aliases") or [] if alias != container.id[:12]],
        "links": [tuple(link.split(":", 1)) for link in settings.get("Links") or []],
        "ipv4_address": own.get("IPv4Address"),
        "ipv6_address": own.get("IPv6Address"),
        "link_local_ips": own.get("LinkLocalIPs"),
        "driver_opt": settings.get("DriverOpts"),
    }
    return {name: value for name, value in endpoint.items() if value}
