"""The compose stack on a real engine: built, healthy, locked down, and with the truth in one Prometheus alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.stack.composed import SERVICES, Stack, composed
from tests.stack.http import request
from tests.stack.real import eventually

pytestmark = pytest.mark.stack

STARTED = (*SERVICES, "prometheus-answers")


@pytest.fixture(scope="module")
def stack() -> Iterator[Stack]:
    with composed("compose") as project:
        project.up(*STARTED)
        yield project


@pytest.mark.parametrize("service", STARTED)
def test_the_service_is_healthy(stack: Stack, service: str) -> None:
    assert stack.inspect(service)["State"]["Health"]["Status"] == "healthy"


@pytest.mark.parametrize("service", STARTED)
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


@pytest.mark.parametrize("service", STARTED)
def test_ports_are_published_on_the_loopback_address_alone(stack: Stack, service: str) -> None:
    # What an image merely exposes has no binding.
    ports = stack.inspect(service)["NetworkSettings"]["Ports"]
    published = [binding for bindings in ports.values() for binding in bindings or ()]
    assert [binding["HostIp"] for binding in published] == ["127.0.0.1"]


def test_writes_are_open_on_that_port_and_the_truth_is_not(stack: Stack) -> None:
    created = stack.lab.put_fault("compose-check", kind="none", duration_seconds=30)
    assert created["kind"] == "none"
    stack.lab.clear_fault("compose-check")
    assert request(f"{stack.lab.url}/metrics/truth").status == 401
    allowed = {"Authorization": f"Bearer {stack.token()}"}
    assert request(f"{stack.lab.url}/metrics/truth", headers=allowed).status == 200


def test_every_target_is_scraped_and_the_rules_are_evaluated(stack: Stack) -> None:
    def recorded() -> float | None:
        return next(iter(stack.prometheus.vector("run:training_mfu:ratio_rate1m").values()), None)

    assert 0.35 < eventually("MFU is recorded", recorded, within=60) < 0.5
    health = {key: target["health"] for key, target in stack.prometheus.targets().items()}
    assert set(health.values()) == {"up"}, health
    assert {instance for job, instance in health if job == "stepscope"} == {"node-00", "run"}


@pytest.mark.parametrize(
    ("service", "file", "said"),
    [("prometheus", "prometheus.yml", "rules found"), ("prometheus-answers", "answers.yml", "SUCCESS")],
)
def test_prometheus_reads_what_is_mounted(stack: Stack, service: str, file: str, said: str) -> None:
    """Configuration and rules, or configuration and token, as its own user."""
    done = stack.compose("exec", "--no-TTY", service, "promtool", "check", "config", f"/etc/prometheus/{file}")
    assert done.returncode == 0, done.stderr
    assert said in done.stdout


def test_what_is_not_there_is_no_failure(stack: Stack) -> None:
    """Neither Alertmanager nor an exporter of real GPUs runs here."""
    assert stack.prometheus.api("alertmanagers")["activeAlertmanagers"] == []
    assert "gpu" not in {job for job, _ in stack.prometheus.targets()}
    assert not stack.prometheus.vector("up == 0")


def test_the_truth_appears_in_the_answers(stack: Stack) -> None:
    stack.lab.put_fault("hidden", kind="straggler", open_ended=True)

    def known() -> dict[str, str] | None:
        found = stack.answers.vector('lab_fault_active{name="hidden"}')
        return next((dict(labels) for labels in found), None)

    assert eventually("the fault is in the answers", known, within=30)["kind"] == "straggler"
    stack.lab.clear_fault("hidden")
    stack.lab.reset()


def test_the_truth_is_in_no_other_prometheus(stack: Stack) -> None:
    """After the test above: had the first Prometheus scraped the truth, it would have it now."""
    names: list[str] = stack.prometheus.api("label/__name__/values")
    assert "training_steps_total" in names
    assert not [name for name in names if name.startswith("lab_")]
    paths: list[Any] = [target["scrapeUrl"] for target in stack.prometheus.targets().values()]
    assert not [path for path in paths if "truth" in path]


def test_the_answers_hold_the_truth_and_nothing_else(stack: Stack) -> None:
    assert [target["scrapeUrl"] for target in stack.answers.targets().values()] == [
        "http://simulator:8000/metrics/truth"
    ]
    names: list[str] = stack.answers.api("label/__name__/values")
    assert not [name for name in names if name.startswith(("training_", "DCGM_"))]


def test_nobody_but_the_labs_group_can_read_the_token(stack: Stack) -> None:
    assert stack.compose("exec", "--no-TTY", "prometheus", "cat", "/var/lib/stepscope/token").returncode != 0
    done = stack.compose("exec", "--no-TTY", "prometheus-answers", "sh", "-c", "cat /var/lib/stepscope/token; id -u")
    assert done.stdout.split() == [stack.token(), "65534"]


def test_the_lab_stops_with_exit_status_0(stack: Stack) -> None:
    """The last test of the file: it stops the service."""
    assert stack.compose("stop", "simulator").returncode == 0
    assert stack.inspect("simulator")["State"]["ExitCode"] == 0
