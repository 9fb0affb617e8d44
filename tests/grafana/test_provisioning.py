"""What Grafana is given at start agrees with the boards and with Prometheus."""

from __future__ import annotations

import pytest
import yaml

from boards_lib.queries import ANSWERS, LAB
from diagnosis.thresholds import SCRAPE_INTERVAL_SECONDS
from tests.grafana.reading import ROOT, Json

PROVISIONING = ROOT / "grafana" / "provisioning"
LEARNERS, ANSWERING = "datasources/stepscope.yml", "answers/datasources/stepscope.yml"


def read(name: str) -> Json:
    document: Json = yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))
    return document


def sources(name: str) -> list[Json]:
    """The data sources in a provisioning file."""
    found: list[Json] = read(f"grafana/provisioning/{name}")["datasources"]
    return found


@pytest.mark.parametrize("name", [LEARNERS, ANSWERING])
def test_data_sources_have_the_boards_uids_and_the_scrape_interval(name: str) -> None:
    scrape = read("prometheus/prometheus.yml")["global"]["scrape_interval"]
    for source in sources(name):
        assert source["name"] == source["uid"], "a variable offers names, a link passes them on"
        assert source["editable"] is False
        assert source["jsonData"]["timeInterval"] == scrape == f"{SCRAPE_INTERVAL_SECONDS}s"
    (default,) = (source["uid"] for source in sources(name) if source.get("isDefault"))
    assert default == LAB.uid


def test_only_the_grafana_of_the_answers_knows_them() -> None:
    assert [source["uid"] for source in sources(LEARNERS)] == [LAB.uid]
    assert [source["uid"] for source in sources(ANSWERING)] == [LAB.uid, ANSWERS.uid]


@pytest.mark.parametrize("service", ["grafana", "grafana-answers"])
def test_boards_come_from_files_alone(service: str) -> None:
    (provider,) = read("grafana/provisioning/dashboards/stepscope.yml")["providers"]
    assert provider["allowUiUpdates"] is False
    grafana = read("docker-compose.yml")["services"][service]
    mounts = dict(volume.split(":")[:2] for volume in grafana["volumes"])
    assert mounts["./grafana/dashboards"] == provider["options"]["path"]
    assert grafana["environment"]["GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH"].startswith(provider["options"]["path"])
