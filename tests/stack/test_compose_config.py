"""The compose file as Compose resolves it: every service of every profile, also those whose images are not at hand."""

from __future__ import annotations

import os
from typing import Any

import pytest

from tests.stack.composed import plain, resolved
from tests.stack.real import ROOT, need, run

pytestmark = pytest.mark.stack

DCGM = "dcgm-exporter"
"""The only service with exceptions: root, one capability, a writable root, no healthcheck."""


@pytest.fixture(scope="module")
def services() -> dict[str, Any]:
    found: dict[str, Any] = resolved()["services"]
    return found


def test_profiles(services: dict[str, Any]) -> None:
    assert {name: service.get("profiles", []) for name, service in services.items()} == {
        "simulator": [],
        "prometheus": [],
        "grafana": [],
        "alertmanager": ["alerts"],
        "prometheus-answers": ["answers"],
        "grafana-answers": ["answers"],
        "gpu-exporter": ["gpu", "dcgm"],
        DCGM: ["dcgm"],
    }


def test_all_services_keep_the_rules(services: dict[str, Any]) -> None:
    for name, service in services.items():
        assert service["init"] is True, name
        assert service["cap_drop"] == ["ALL"], name
        assert service["security_opt"] == ["no-new-privileges:true"], name
        assert service["logging"]["options"]["max-size"], name
        assert "container_name" not in service, name
        assert not service.get("privileged"), name
        for port in service.get("ports", []):
            assert port["host_ip"] == "127.0.0.1", name
        for volume in service.get("volumes", []):
            assert volume["type"] == "volume" or volume["read_only"], name
            assert "docker.sock" not in volume["source"], name


def test_all_but_nvidias_exporter_run_without_root_on_a_read_only_root_and_are_asked_for_their_health(
    services: dict[str, Any],
) -> None:
    for name, service in services.items():
        if name == DCGM:
            assert service["cap_add"] == ["SYS_ADMIN"]
            assert not service.get("ports")
            continue
        assert not service.get("cap_add"), name
        assert service["read_only"] is True, name
        assert service["tmpfs"], name
        assert not service["user"].startswith(("0", "root")), name
        assert service["healthcheck"]["test"][0] == "CMD", f"{name}: no shell"
        assert "start_interval" not in service["healthcheck"], f"{name}: needs a newer engine"


def test_only_directories_are_mounted(services: dict[str, Any]) -> None:
    """A single file that is missing would be made a directory by the engine."""
    for name, service in services.items():
        sources = [volume["source"] for volume in service.get("volumes", []) if volume["type"] == "bind"]
        assert all(os.path.isdir(source) for source in sources), name


def test_an_address_of_the_network_opens_the_lab_and_grafana_and_nothing_else() -> None:
    services = resolved(BIND="192.0.2.10")["services"]
    opened = {
        name for name, service in services.items() for port in service.get("ports", [])
        if port["host_ip"] == "192.0.2.10"
    }  # fmt: skip
    assert opened == {"simulator", "grafana"}
    assert services["simulator"]["environment"]["STEPSCOPE_PUBLISHED_ON"] == "192.0.2.10"


def test_no_variable_of_the_shell_opens_writes() -> None:
    environment = resolved(BIND="192.0.2.10", STEPSCOPE_OPEN_WRITES="1")["services"]["simulator"]["environment"]
    assert "STEPSCOPE_OPEN_WRITES" not in environment


def test_an_empty_address_is_refused() -> None:
    """Docker would publish on every address."""
    need("docker")
    done = run("env", *[f"{name}={value}" for name, value in plain().items()], "BIND=", "docker", "compose", "config")
    assert done.returncode != 0
    assert "BIND" in done.stderr


def test_images_and_ports_are_those_of_the_env_file(services: dict[str, Any]) -> None:
    values = dict(line.split("=", 1) for line in (ROOT / ".env").read_text().splitlines() if line and line[0] != "#")
    images = {
        "simulator": "LAB", "prometheus": "PROMETHEUS", "grafana": "GRAFANA", "alertmanager": "ALERTMANAGER",
        "prometheus-answers": "PROMETHEUS", "grafana-answers": "GRAFANA", "gpu-exporter": "LAB", DCGM: "DCGM_EXPORTER",
    }  # fmt: skip
    for name, key in images.items():
        assert services[name]["image"] == os.environ.get(f"{key}_IMAGE", values[f"{key}_IMAGE"])
    ports = images | {"prometheus-answers": "ANSWERS", "grafana-answers": "GRAFANA_ANSWERS"}
    for name in set(ports) - {"gpu-exporter", DCGM}:
        key = f"{ports[name]}_PORT"
        assert services[name]["ports"][0]["published"] == os.environ.get(key, values[key])
    text = (ROOT / "docker-compose.yml").read_text()
    assert not [value for key, value in values.items() if key.endswith("_IMAGE") and value in text]


def test_ports_differ(services: dict[str, Any]) -> None:
    published = [port["published"] for service in services.values() for port in service.get("ports", [])]
    assert len(published) == len(set(published))
