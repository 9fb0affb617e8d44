"""The rule file and its names; the rules' own tests need promtool and run with the stack."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
import yaml

import build_rules
from diagnosis.thresholds import SCRAPE_INTERVAL_SECONDS
from exporter import catalogue
from simulator.observation import PHASES
from tests.promql import selection

PROMETHEUS = Path(build_rules.__file__).parent


def test_the_committed_file_is_what_the_code_writes() -> None:
    assert build_rules.main(["--check"]) == 0


def test_a_changed_file_fails_the_check(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "rules" / "stepscope.yml"
    monkeypatch.setattr(build_rules, "TARGET", target)
    assert build_rules.main(["--check"]) == 1
    assert build_rules.main([]) == 0
    assert build_rules.main(["--check"]) == 0
    target.write_text(target.read_text() + "\n")
    assert build_rules.main(["--check"]) == 1
    assert "make rules" in capsys.readouterr().err


def test_the_file_holds_the_rules_as_written() -> None:
    (group,) = yaml.safe_load(build_rules.TARGET.read_text())["groups"]
    assert [(rule["record"], rule["expr"]) for rule in group["rules"]] == [
        (rule.record, rule.expr) for rule in build_rules.RECORDINGS
    ]


@pytest.mark.parametrize("rule", build_rules.RECORDINGS, ids=lambda rule: rule.record)
def test_names_are_level_metric_operations_and_agree_with_the_aggregation(rule: build_rules.Recording) -> None:
    level, metric, operations = rule.record.split(":")
    labels = {"run": "run", "rank": "run, rank"}[level]
    assert re.fullmatch(r"[a-zA-Z_]+", metric)
    assert re.fullmatch(r"[a-z_]+1m|max15m", operations)
    assert f"by ({labels}" in rule.expr or f"{level}:" in rule.expr


@pytest.mark.parametrize("rule", build_rules.RECORDINGS, ids=lambda rule: rule.record)
def test_rules_read_what_the_exporter_writes(rule: build_rules.Recording) -> None:
    earlier = [other.record for other in build_rules.RECORDINGS[: build_rules.RECORDINGS.index(rule)]]
    for metric in selection(rule.expr).metrics:
        assert metric in earlier or catalogue.find(metric) is not None, f"{metric} is not there when this is evaluated"


@pytest.mark.parametrize("gpus", [4, 8, 64])
def test_few_series_are_recorded(gpus: int) -> None:
    """At most 10 per GPU already at 4 GPUs, where what is recorded once per run weighs most."""
    levels = Counter(rule.record.partition(":")[0] for rule in build_rules.RECORDINGS)
    per_run = levels["run"] - 1 + len(PHASES)
    assert per_run + levels["rank"] * gpus <= 10 * gpus


def test_targets_are_discovered_more_often_than_they_are_scraped() -> None:
    config = yaml.safe_load((PROMETHEUS / "prometheus.yml").read_text())
    lab = next(job for job in config["scrape_configs"] if job["job_name"] == "stepscope")
    (discovery,) = lab["http_sd_configs"]
    assert discovery["url"].endswith("/sd/nodes")
    interval = f"{SCRAPE_INTERVAL_SECONDS}s"
    assert int(discovery["refresh_interval"].removesuffix("s")) < SCRAPE_INTERVAL_SECONDS
    assert config["global"]["scrape_interval"] == config["global"]["evaluation_interval"] == interval
