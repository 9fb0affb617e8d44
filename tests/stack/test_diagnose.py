"""`stepscope diagnose` against a real Prometheus that scrapes a real lab: only public series in between."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from stepscope.__main__ import main
from tests.stack.real import eventually
from tests.stack.servers import Lab, Prometheus, job_for, running_lab, running_prometheus, shipped_config

pytestmark = pytest.mark.stack


@pytest.fixture(scope="module")
def scraped(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Lab, Prometheus]]:
    """A lab of 32 GPUs, scraped every second."""
    folder = tmp_path_factory.mktemp("diagnose")
    with running_lab(folder / "lab.log", "--preset", "anatomy-32gpu") as lab:
        config = shipped_config(any=lab)
        (job,) = config["scrape_configs"]
        config["scrape_configs"] = [{**job_for("stepscope", lab, job), "scrape_interval": "1s", "scrape_timeout": "1s"}]
        with running_prometheus(folder / "prometheus", config) as prometheus:
            yield lab, prometheus


def test_the_slow_rank_of_a_real_lab_is_named_from_what_prometheus_stored(
    scraped: tuple[Lab, Prometheus], capsys: pytest.CaptureFixture[str]
) -> None:
    lab, prometheus = scraped

    def found() -> dict[str, Any]:
        capsys.readouterr()
        words = ("diagnose", "--prometheus", prometheus.url, "--window", "15s", "--step", "1s", "--json")
        assert main(words) == 0, capsys.readouterr().err
        shown: dict[str, Any] = json.loads(capsys.readouterr().out)
        return shown

    def healthy() -> bool | None:
        shown = found()
        return True if shown["steps"] > 200 and not shown["verdicts"] else None

    assert eventually("a healthy stretch is stored", healthy, within=60, every=2.0)
    lab.put_fault("slow", kind="straggler", target={"mode": "ranks", "value": [13]}, open_ended=True)

    def named() -> list[str] | None:
        verdicts = found()["verdicts"]
        return verdicts[0]["culprit"]["ranks"] if verdicts and verdicts[0]["cause"] == "straggler" else None

    assert eventually("the straggler is named", named, within=60, every=2.0) == ["13"]
