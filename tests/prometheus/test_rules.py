"""The rule files, the recorded names and the budget; the rules' own tests need promtool and run with the stack."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
import yaml

import build_rules
from exporter import catalogue
from rulebook.profile import PRODUCTION, PROFILES, WORKSHOP, Profile, duration
from rulebook.recording import Recording
from simulator.names import PHASES
from tests.promql import selection

RULES = {WORKSHOP: build_rules.ROOT / "rules", PRODUCTION: build_rules.ROOT / "production" / "rules"}
CONFIGS = {profile: folder.parent / "prometheus.yml" for profile, folder in RULES.items()}

each_profile = pytest.mark.parametrize("profile", PROFILES, ids=lambda profile: profile.name)
each_recording = pytest.mark.parametrize("rule", build_rules.RECORDINGS, ids=lambda rule: rule.record)


def test_the_committed_files_are_what_the_code_writes() -> None:
    assert build_rules.main(["--check"]) == 0


def test_a_changed_or_missing_file_fails_the_check(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "prometheus.yml").write_text((build_rules.ROOT / "prometheus.yml").read_text())
    monkeypatch.setattr(build_rules, "ROOT", tmp_path)
    assert build_rules.main(["--check"]) == 1
    assert build_rules.main([]) == 0
    assert build_rules.main(["--check"]) == 0
    capsys.readouterr()
    changed = tmp_path / "production" / "rules" / "training.yml"
    changed.write_text(changed.read_text() + "\n")
    assert build_rules.main(["--check"]) == 1
    assert "production/rules/training.yml" in capsys.readouterr().err


@each_profile
def test_nothing_else_lies_where_rules_are_loaded_from(profile: Profile) -> None:
    assert {path.name for path in RULES[profile].iterdir()} == {"stepscope.yml", "training.yml", "traditional.yml"}


@each_profile
def test_the_file_holds_the_rules_as_written(profile: Profile) -> None:
    (group,) = yaml.safe_load((RULES[profile] / "stepscope.yml").read_text())["groups"]
    assert [(rule["record"], rule["expr"]) for rule in group["rules"]] == [
        (rule.record, rule.expr) for rule in build_rules.RECORDINGS
    ]


@each_recording
def test_names_are_level_metric_operations_and_agree_with_the_aggregation(rule: Recording) -> None:
    level, metric, operations = rule.record.split(":")
    labels = {"run": "run", "rank": "run, rank"}[level]
    assert re.fullmatch(r"[a-zA-Z_]+", metric)
    assert re.fullmatch(r"[a-z_]+1m|max15m", operations)
    assert f"by ({labels}" in rule.expr or f"{level}:" in rule.expr


@each_recording
def test_rules_read_what_the_exporter_writes(rule: Recording) -> None:
    earlier = [other.record for other in build_rules.RECORDINGS[: build_rules.RECORDINGS.index(rule)]]
    for metric in selection(rule.expr).metrics:
        assert metric in earlier or catalogue.find(metric) is not None, f"{metric} is not there when this is evaluated"


@pytest.mark.parametrize("gpus", [4, 8, 64])
def test_few_series_are_recorded(gpus: int) -> None:
    """At most 10 per GPU already at 4 GPUs, where what is recorded once per run weighs most."""
    levels = Counter(rule.record.partition(":")[0] for rule in build_rules.RECORDINGS)
    per_run = levels["run"] - 1 + len(PHASES)
    assert per_run + levels["rank"] * gpus <= 10 * gpus


@each_profile
def test_prometheus_scrapes_at_the_profiles_intervals(profile: Profile) -> None:
    config = yaml.safe_load(CONFIGS[profile].read_text())
    assert config["rule_files"] == ["rules/*.yml"]
    assert config["global"]["scrape_interval"] == duration(profile.scrape)
    assert config["global"]["scrape_timeout"] == duration(profile.timeout)
    assert config["global"]["evaluation_interval"] == duration(profile.evaluate)
    assert profile.timeout < profile.scrape


def test_targets_are_discovered_more_often_than_they_are_scraped() -> None:
    config = yaml.safe_load(CONFIGS[WORKSHOP].read_text())
    lab = next(job for job in config["scrape_configs"] if job["job_name"] == "stepscope")
    (discovery,) = lab["http_sd_configs"]
    assert discovery["url"].endswith("/sd/nodes")
    assert int(discovery["refresh_interval"].removesuffix("s")) < WORKSHOP.scrape
