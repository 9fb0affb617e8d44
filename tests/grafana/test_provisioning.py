"""What Grafana is given at start agrees with the boards and with Prometheus."""

from __future__ import annotations

import yaml

from boards_lib.queries import DATASOURCE_UID
from diagnosis.thresholds import SCRAPE_INTERVAL_SECONDS
from tests.grafana.reading import ROOT, Json

PROVISIONING = ROOT / "grafana" / "provisioning"


def read(name: str) -> Json:
    document: Json = yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))
    return document


def test_the_data_source_has_the_boards_uid_and_the_scrape_interval() -> None:
    (source,) = read("grafana/provisioning/datasources/stepscope.yml")["datasources"]
    assert source["uid"] == DATASOURCE_UID
    assert source["isDefault"] is True
    assert source["editable"] is False
    scrape = read("prometheus/prometheus.yml")["global"]["scrape_interval"]
    assert source["jsonData"]["timeInterval"] == scrape == f"{SCRAPE_INTERVAL_SECONDS}s"


def test_boards_come_from_files_alone() -> None:
    (provider,) = read("grafana/provisioning/dashboards/stepscope.yml")["providers"]
    assert provider["allowUiUpdates"] is False
    grafana = read("docker-compose.yml")["services"]["grafana"]
    mounts = dict(volume.split(":")[:2] for volume in grafana["volumes"])
    assert mounts["./grafana/dashboards"] == provider["options"]["path"]
    assert grafana["environment"]["GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH"].startswith(provider["options"]["path"])
