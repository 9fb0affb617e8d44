"""The compose file and what it mounts agree with each other, read as text: no engine is needed."""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from exporter.catalogue import FAMILIES
from exporter.sources.job.wire import socket_paths
from stepscope.api.access import is_secret
from stepscope.export.settings import DEFAULT_PORT, KEYS

ROOT = Path(__file__).parents[1]
INSTRUCTOR = {"prometheus-answers", "grafana-answers"}


def read(name: str) -> Any:
    return yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def services() -> dict[str, Any]:
    found: dict[str, Any] = read("docker-compose.yml")["services"]
    return found


def mounts(service: dict[str, Any]) -> dict[str, str]:
    """Source by place in the container."""
    return {place: source for source, place, *_ in (volume.split(":") for volume in service.get("volumes", []))}


def test_the_env_file_sets_what_the_compose_file_asks_for_and_nothing_else() -> None:
    asked = set(re.findall(r"\$\{(\w+):\?", text("docker-compose.yml")))
    lines = [line for line in text(".env").splitlines() if line and not line.startswith("#")]
    values = dict(line.split("=", 1) for line in lines)
    assert set(values) == asked | {"COMPOSE_PROFILES"}
    assert [name for name, value in values.items() if not value] == ["COMPOSE_PROFILES"]
    assert values["BIND"] == "127.0.0.1"


def test_no_variable_is_used_without_being_asked_for() -> None:
    assert not re.findall(r"\$\{\w+[^:\w]", text("docker-compose.yml"))
    assert not re.findall(r"\$\w", text("docker-compose.yml"))


def test_only_lab_and_grafana_can_be_published_elsewhere(services: dict[str, Any]) -> None:
    for name, service in services.items():
        for port in service.get("ports", []):
            everywhere = port["host_ip"] != "127.0.0.1"
            assert everywhere is (name in ("simulator", "grafana")), name
            assert not everywhere or port["host_ip"].startswith("${BIND:?"), name


def test_what_is_published_there_waits_for_the_lab_to_accept_the_address(services: dict[str, Any]) -> None:
    assert services["grafana"]["depends_on"]["simulator"] == {"condition": "service_healthy"}


def test_the_lab_knows_where_it_is_published_and_is_not_told_to_open_writes(services: dict[str, Any]) -> None:
    simulator = services["simulator"]
    (port,) = simulator["ports"]
    assert simulator["environment"]["STEPSCOPE_PUBLISHED_ON"] == port["host_ip"]
    assert "OPEN_WRITES" not in text("docker-compose.yml")


def test_what_may_be_broken_opted_in_and_the_instructors_services_did_not(services: dict[str, Any]) -> None:
    opted = {name for name, service in services.items() if service.get("labels", {}).get("stepscope.chaos") == "true"}
    assert opted == {"simulator", "prometheus", "alertmanager", "gpu-exporter", "dcgm-exporter"}
    assert not opted & INSTRUCTOR


def test_the_token_goes_from_the_lab_to_the_answers_and_to_nobody_else(services: dict[str, Any]) -> None:
    token = Path(services["simulator"]["environment"]["STEPSCOPE_TOKEN_FILE"])
    holders = {name for name, service in services.items() if "lab-token" in mounts(service).values()}
    assert holders == {"simulator", "prometheus-answers"}
    for name in holders:
        assert mounts(services[name])[str(token.parent)] == "lab-token"
    assert f"lab-token:{token.parent}:ro" in services["prometheus-answers"]["volumes"]
    group = services["simulator"]["user"].partition(":")[2]
    assert services["prometheus-answers"]["group_add"] == [group]
    assert f"--group={group} --mode=0750 {token.parent}" in text("Dockerfile")
    (scrape,) = read("prometheus/answers.yml")["scrape_configs"]
    assert scrape["authorization"]["credentials_file"] == str(token)


def test_the_answers_are_the_truth_alone() -> None:
    config = read("prometheus/answers.yml")
    (scrape,) = config["scrape_configs"]
    assert is_secret(scrape["metrics_path"])
    assert scrape["static_configs"] == [{"targets": ["simulator:8000"]}]
    assert "rule_files" not in config
    assert config["global"]["scrape_interval"] == read("prometheus/prometheus.yml")["global"]["scrape_interval"]
    assert "truth" not in text("prometheus/prometheus.yml")


def test_the_first_grafana_does_not_know_where_the_answers_are(services: dict[str, Any]) -> None:
    (first,) = read("grafana/provisioning/datasources/stepscope.yml")["datasources"]
    both = {
        source["uid"]: source
        for source in read("grafana/provisioning/answers/datasources/stepscope.yml")["datasources"]
    }
    assert both.keys() == {"stepscope", "stepscope-answers"}
    assert both["stepscope"] == first
    assert both["stepscope-answers"]["url"] == "http://prometheus-answers:9090"
    assert [uid for uid, source in both.items() if source.get("isDefault")] == ["stepscope"]
    assert both["stepscope-answers"]["editable"] is False
    place = "/etc/grafana/provisioning/datasources"
    assert mounts(services["grafana"])[place] == "./grafana/provisioning/datasources"
    assert mounts(services["grafana-answers"])[place] == "./grafana/provisioning/answers/datasources"
    assert not [source for source in mounts(services["grafana"]).values() if "answers" in source]


def test_the_instructors_grafana_opens_the_instructors_board_and_differs_in_nothing_else(
    services: dict[str, Any],
) -> None:
    home = "GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH"
    first, second = (dict(services[name]["environment"]) for name in ("grafana", "grafana-answers"))
    for environment in (first, second):
        path = Path(environment.pop(home))
        assert (ROOT / "grafana" / "dashboards" / path.name).is_file()
    assert first == second
    assert services["grafana-answers"]["environment"][home].endswith("/instructor.json")


def test_what_a_profile_brings_is_found_by_a_name_that_no_search_domain_completes(services: dict[str, Any]) -> None:
    config = read("prometheus/prometheus.yml")
    (alertmanager,) = config["alerting"]["alertmanagers"]
    (gpu,) = (job for job in config["scrape_configs"] if job["job_name"] == "gpu")
    for place, service, port in ((alertmanager, "alertmanager", 9093), (gpu, "gpu-exporter", DEFAULT_PORT)):
        (discovery,) = place["dns_sd_configs"]
        assert discovery["names"] == [f"{service}."]
        assert (discovery["type"], discovery["port"]) == ("A", port)
        assert services[service]["profiles"]


def test_real_gpus_are_read_by_the_exporter_and_scraped_once(services: dict[str, Any]) -> None:
    exporter, dcgm = services["gpu-exporter"], services["dcgm-exporter"]
    assert exporter["profiles"] == ["gpu", "dcgm"]
    assert dcgm["profiles"] == ["dcgm"]
    assert exporter["environment"]["STEPSCOPE_DCGM_URL"] == "http://dcgm-exporter.:9400/metrics"
    assert exporter["environment"]["STEPSCOPE_URL"] == f"http://127.0.0.1:{DEFAULT_PORT}"
    assert exporter["environment"]["STEPSCOPE_HOSTNAME"] == dcgm["hostname"]
    # Memory in use is a sum over the rows of a GPU: two pages of it would be added up.
    scraped = [yaml.safe_dump(job) for job in read("prometheus/prometheus.yml")["scrape_configs"]]
    assert not [job for job in scraped if "dcgm-exporter" in job]
    (device,) = exporter["deploy"]["resources"]["reservations"]["devices"]
    assert (device["driver"], device["count"], device["capabilities"]) == ("nvidia", "all", ["gpu"])
    assert exporter["deploy"] == dcgm["deploy"]


def test_recorders_find_the_socket_where_they_look_first(services: dict[str, Any]) -> None:
    (folder,) = (place for place, source in mounts(services["gpu-exporter"]).items() if source == "recorder-socket")
    assert socket_paths({})[0].startswith(f"{folder}/")
    assert f"--mode=0755 {folder}" in text("Dockerfile")


def test_every_setting_of_the_exporter_is_one(services: dict[str, Any]) -> None:
    settings = {name for name in services["gpu-exporter"]["environment"] if name.startswith("STEPSCOPE_")}
    assert settings - {"STEPSCOPE_URL"} <= {f"STEPSCOPE_{key.upper()}" for key in KEYS}


def test_alerts_go_nowhere() -> None:
    config = read("alertmanager/alertmanager.yml")
    assert config["receivers"] == [{"name": config["route"]["receiver"]}]
    assert "routes" not in config["route"]


def test_dcgm_exporter_collects_the_catalogue(services: dict[str, Any]) -> None:
    command = services["dcgm-exporter"]["command"]
    file = Path(command[command.index("--collectors") + 1])
    assert mounts(services["dcgm-exporter"])[str(file.parent)] == "./dcgm"
    lines = [line for line in text(f"dcgm/{file.name}").splitlines() if not line.startswith("#")]
    rows = [[cell.strip() for cell in row] for row in csv.reader(lines)]
    assert all(len(row) == 3 and row[2] for row in rows)
    dcgm = [family for family in FAMILIES if family.name.startswith("DCGM_")]
    assert [(name, kind) for name, kind, _ in rows] == [(family.name, family.type) for family in dcgm]


def test_every_profile_goes_down() -> None:
    """Without its profile named, Compose would leave a service running."""
    down = text("Makefile").partition("\ndown:")[2].partition("\n\n")[0]
    assert "--profile '*' down" in down
