"""The compose stack on a real engine: built, healthy, locked down, and with MFU in its Prometheus."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
import yaml

from tests.stack.http import request
from tests.stack.real import ROOT, eventually, free_port, lacking, need, run
from tests.stack.servers import Lab, Prometheus

pytestmark = pytest.mark.stack

SERVICES = ("simulator", "prometheus")
"""What can be built or pulled anywhere; Grafana's service is validated, not started."""


@dataclass(frozen=True, slots=True)
class Stack:
    """A running project under a name and on ports of its own."""

    project: str
    environment: dict[str, str]
    lab: Lab
    prometheus: Prometheus

    def compose(self, *words: str, timeout: float = 300) -> subprocess.CompletedProcess[str]:
        """`docker compose` on this project."""
        return subprocess.run(
            ("docker", "compose", "--project-name", self.project, *words),
            cwd=ROOT,
            env={**os.environ, **self.environment},
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )

    def inspect(self, service: str) -> dict[str, Any]:
        """What the engine says of the service's container."""
        container = self.compose("ps", "--all", "--quiet", service).stdout.strip()
        (found,) = json.loads(run("docker", "inspect", container).stdout)
        assert isinstance(found, dict)
        return found


@pytest.fixture(scope="module")
def stack() -> Iterator[Stack]:
    need("docker")
    if run("docker", "info").returncode != 0 or run("docker", "compose", "version").returncode != 0:
        lacking("no Docker engine with Compose v2 answers")
    lab, prometheus, grafana = free_port(), free_port(), free_port()
    started = Stack(
        project=f"stepscope-test-{os.getpid()}",
        environment={
            "LAB_PORT": str(lab),
            "PROMETHEUS_PORT": str(prometheus),
            "GRAFANA_PORT": str(grafana),
            "LAB_IMAGE": "stepscope:test",
        },
        lab=Lab(f"http://127.0.0.1:{lab}"),
        prometheus=Prometheus(f"http://127.0.0.1:{prometheus}"),
    )
    try:
        up = started.compose("up", "--detach", "--build", "--wait", "--wait-timeout", "240", *SERVICES, timeout=900)
        assert up.returncode == 0, up.stderr + started.compose("logs", "--no-color").stdout
        yield started
    finally:
        started.compose("down", "--volumes", "--remove-orphans", "--timeout", "10")


@pytest.mark.parametrize("service", SERVICES)
def test_the_service_is_healthy(stack: Stack, service: str) -> None:
    assert stack.inspect(service)["State"]["Health"]["Status"] == "healthy"


@pytest.mark.parametrize("service", SERVICES)
def test_the_container_is_locked_down(stack: Stack, service: str) -> None:
    container = stack.inspect(service)
    host = container["HostConfig"]
    assert int(container["Config"]["User"].split(":")[0]) > 0, "not root"
    assert host["ReadonlyRootfs"] is True
    assert host["CapDrop"] == ["ALL"]
    assert not host["CapAdd"]
    assert not host["Privileged"]
    assert host["SecurityOpt"] == ["no-new-privileges:true"]
    assert host["Init"] is True
    assert host["LogConfig"]["Config"] == {"max-size": "10m", "max-file": "3"}
    assert not [mount for mount in container["Mounts"] if "docker.sock" in mount["Source"]]
    assert container["Name"].startswith(f"/{stack.project}-"), "no fixed name"


def test_the_lab_cannot_write_to_its_root_and_is_not_root(stack: Stack) -> None:
    probe = "import os, pathlib; print(os.getuid(), os.getgid()); pathlib.Path('/opt/stepscope/x').write_text('x')"
    done = stack.compose("exec", "--no-TTY", "simulator", "python3", "-c", probe)
    assert done.stdout.split() == ["10001", "10001"]
    assert done.returncode != 0
    assert "Read-only file system" in done.stderr or "Permission denied" in done.stderr


@pytest.mark.parametrize("service", SERVICES)
def test_ports_are_published_on_the_loopback_address_alone(stack: Stack, service: str) -> None:
    published = [
        binding for bindings in stack.inspect(service)["NetworkSettings"]["Ports"].values() for binding in bindings
    ]
    assert [binding["HostIp"] for binding in published] == ["127.0.0.1"]


def test_writes_are_open_on_that_port_and_the_truth_is_not(stack: Stack) -> None:
    created = stack.lab.put_fault("compose-check", kind="none", duration_seconds=30)
    assert created["kind"] == "none"
    stack.lab.clear_fault("compose-check")
    assert request(f"{stack.lab.url}/metrics/truth").status in (401, 403)


def test_mfu_is_in_prometheus(stack: Stack) -> None:
    def recorded() -> float | None:
        return next(iter(stack.prometheus.vector("run:training_mfu:ratio_rate1m").values()), None)

    mfu = eventually("MFU is recorded", recorded, within=90)
    assert 0.35 < mfu < 0.5
    health = {key: target["health"] for key, target in stack.prometheus.targets().items()}
    assert set(health.values()) == {"up"}, health
    assert {instance for job, instance in health if job == "stepscope"} == {"node-00", "run"}


def test_prometheus_reads_its_mounted_configuration_and_rules(stack: Stack) -> None:
    done = stack.compose(
        "exec", "--no-TTY", "prometheus", "promtool", "check", "config", "/etc/prometheus/prometheus.yml"
    )
    assert done.returncode == 0, done.stderr
    assert "rules found" in done.stdout


def test_the_lab_stops_with_exit_status_0(stack: Stack) -> None:
    """The last test of the file: it stops the service."""
    assert stack.compose("stop", "simulator").returncode == 0
    assert stack.inspect("simulator")["State"]["ExitCode"] == 0


def resolved() -> dict[str, Any]:
    """The compose file as Compose resolves it."""
    need("docker")
    done = run("docker", "compose", "config")
    assert done.returncode == 0, done.stderr
    config = yaml.safe_load(done.stdout)
    assert isinstance(config, dict)
    return config


def test_all_services_keep_the_rules_grafana_included() -> None:
    services = resolved()["services"]
    assert set(services) == {"simulator", "prometheus", "grafana"}
    for name, service in services.items():
        assert service["read_only"] is True, name
        assert service["init"] is True, name
        assert service["cap_drop"] == ["ALL"], name
        assert service["security_opt"] == ["no-new-privileges:true"], name
        assert service["tmpfs"], name
        assert not service["user"].startswith(("0", "root")), name
        assert service["logging"]["options"]["max-size"], name
        assert "container_name" not in service, name
        assert [port["host_ip"] for port in service["ports"]] == ["127.0.0.1"], name
        assert service["healthcheck"]["test"][0] == "CMD", f"{name}: no shell"
        assert "start_interval" not in service["healthcheck"], f"{name}: needs a newer engine"
        for volume in service.get("volumes", []):
            assert volume["type"] == "volume" or volume["read_only"], name
            assert "docker.sock" not in volume["source"], name


def test_only_directories_are_mounted() -> None:
    """A single file that is missing would be made a directory by the engine."""
    for name, service in resolved()["services"].items():
        sources = [volume["source"] for volume in service.get("volumes", []) if volume["type"] == "bind"]
        assert all(os.path.isdir(source) for source in sources), name


def test_images_and_ports_are_those_of_the_env_file() -> None:
    values = dict(line.split("=", 1) for line in (ROOT / ".env").read_text().splitlines() if line and line[0] != "#")
    services = resolved()["services"]
    for name, key in (("simulator", "LAB"), ("prometheus", "PROMETHEUS"), ("grafana", "GRAFANA")):
        assert services[name]["image"] == os.environ.get(f"{key}_IMAGE", values[f"{key}_IMAGE"])
        assert services[name]["ports"][0]["published"] == os.environ.get(f"{key}_PORT", values[f"{key}_PORT"])
    text = (ROOT / "docker-compose.yml").read_text()
    assert not [value for key, value in values.items() if key.endswith("_IMAGE") and value in text]
