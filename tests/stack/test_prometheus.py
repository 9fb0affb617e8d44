"""What a real Prometheus makes of the lab's pages: formats, discovery, rules, and the same numbers as the API."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from simulator.names import PHASES
from tests.stack.conftest import Stage
from tests.stack.real import eventually
from tests.stack.servers import Prometheus, job_for, running_lab, running_prometheus, shipped_config

pytestmark = pytest.mark.stack

FORMATS = {"text": ["PrometheusText0.0.4"], "openmetrics": ["OpenMetricsText1.0.0"]}


@pytest.fixture(scope="module")
def both_formats(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prometheus]:
    """One lab, scraped by two jobs that each accept one format only."""
    folder = tmp_path_factory.mktemp("formats")
    with running_lab(folder / "lab.log") as lab:
        config = shipped_config(any=lab)
        (job,) = config["scrape_configs"]
        config["scrape_configs"] = [
            {**job_for(name, lab, job), "scrape_protocols": protocols, "scrape_interval": "1s", "scrape_timeout": "1s"}
            for name, protocols in FORMATS.items()
        ]
        with running_prometheus(folder / "prometheus", config) as prometheus:
            yield prometheus


@pytest.mark.parametrize("job", FORMATS)
def test_every_target_is_up_in_either_format(both_formats: Prometheus, job: str) -> None:
    def all_up() -> list[str] | None:
        targets = {key: target for key, target in both_formats.targets().items() if key[0] == job}
        problems = [target["lastError"] for target in targets.values() if target["health"] == "down"]
        assert not problems, problems
        healthy = all(target["health"] == "up" for target in targets.values())
        return sorted(instance for _, instance in targets) if targets and healthy else None

    assert eventually(f"targets of {job} are up", all_up, within=30) == ["node-00", "run"]


def test_both_formats_store_the_same_series(both_formats: Prometheus) -> None:
    def names() -> dict[str, set[str]] | None:
        found = {
            job: set(both_formats.api("label/__name__/values", **{"match[]": f'{{job="{job}"}}'})) for job in FORMATS
        }
        return found if all(len(series) > 50 for series in found.values()) else None

    stored = eventually("both jobs have series", names, within=30)
    # OpenMetrics has a creation time per counter where text has none; Prometheus stores neither by default.
    assert stored["text"] == stored["openmetrics"]
    assert "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION" in stored["openmetrics"], "DCGM counters keep their names"
    assert "training_phase_seconds_total" in stored["text"]


def test_samples_keep_their_own_labels(both_formats: Prometheus) -> None:
    def labels() -> list[str] | None:
        return both_formats.api("labels", **{"match[]": "DCGM_FI_DEV_GPU_UTIL"}) or None

    found = set(eventually("labels of a GPU series", labels, within=30))
    assert {"gpu", "UUID", "pci_bus_id", "device", "modelName", "Hostname", "DCGM_FI_DRIVER_VERSION"} <= found
    assert not {label for label in found if label.startswith("exported_")}


def test_promql_over_whole_minutes_equals_the_api(stage: Stage) -> None:
    """MFU and phase shares from counters in Prometheus against `GET /v1/state`, within 2 %."""

    def full_minute() -> Any | None:
        state = stage.film.state()
        minute = state["last_minute"]
        return state if minute and minute["span_seconds"] >= 60 and state["position"]["seconds"] >= 75 else None

    state = eventually("the API has a full minute", full_minute, within=120)
    minute = state["last_minute"]
    moment = datetime.fromisoformat(state["position"]["time"]).timestamp()
    run = state["run"]["run"]
    eventually("Prometheus has that minute", lambda: scraped_after(stage.prometheus, run, moment), within=30)
    rate = 'rate({metric}{{run="{run}"}}[1m])'
    flops = stage.prometheus.value(rate.format(metric="training_model_flops_total", run=run), at=moment)
    seconds = stage.prometheus.value(rate.format(metric="training_step_seconds_sum", run=run), at=moment)
    peak = stage.prometheus.value(f'training_peak_flops_per_second{{run="{run}"}}', at=moment)
    assert flops / seconds / peak == pytest.approx(minute["mfu"], rel=0.02)
    phases = rate.format(metric="training_phase_seconds_total", run=run)
    shares = stage.prometheus.vector(f"sum by (phase) ({phases}) / scalar(sum({phases}))", at=moment)
    measured = {dict(labels)["phase"]: value for labels, value in shares.items()}
    assert set(measured) == set(PHASES)
    assert sum(measured.values()) == pytest.approx(1)
    for phase in PHASES:
        assert measured[phase] == pytest.approx(minute["phases"][phase], rel=0.02, abs=0.002), phase


def scraped_after(prometheus: Prometheus, run: str, moment: float) -> bool | None:
    """Whether the run was scraped after a moment."""
    return prometheus.value(f'timestamp(training_steps_total{{run="{run}"}})') > moment or None


def test_the_recorded_series_equal_the_api(stage: Stage) -> None:
    run = stage.film.state()["run"]["run"]

    def recorded() -> dict[str, float] | None:
        minute = stage.film.state()["last_minute"]
        if not minute or minute["span_seconds"] < 60:
            return None
        return {
            "run:training_mfu:ratio_rate1m": minute["mfu"],
            "run:training_step_seconds:mean_rate1m": minute["step_seconds"],
            "run:training_tokens_per_gpu:rate1m": minute["tokens_per_second_per_gpu"],
            "run:DCGM_FI_DEV_GPU_UTIL:avg1m": minute["gpu_util_percent"],
        }

    expected = eventually("the API has a full minute", recorded, within=120)
    for name, value in expected.items():
        assert stage.prometheus.value(f'{name}{{run="{run}"}}') == pytest.approx(value, rel=0.02), name


def test_rules_evaluate_without_errors(stage: Stage) -> None:
    groups = stage.prometheus.api("rules")["groups"]
    assert {group["name"] for group in groups} == {"stepscope", "training", "traditional"}
    rules = [rule for group in groups for rule in group["rules"]]
    assert not {rule["name"]: rule.get("lastError") for rule in rules if rule["health"] == "err"}


def test_at_most_ten_series_are_recorded_per_gpu(stage: Stage) -> None:
    run = stage.film.state()["run"]["run"]
    recorded = stage.prometheus.value(f'count({{__name__=~"(run|rank):.+", run="{run}"}})')
    assert recorded <= 10 * stage.prometheus.value(f'count(training_rank_info{{run="{run}"}})')


def test_a_lab_without_prometheus_stops_cleanly(tmp_path: Path) -> None:
    with running_lab(tmp_path / "lab.log") as lab:
        assert lab.get("/version")
