"""The rules that every alert keeps."""

from __future__ import annotations

import re

import pytest
import yaml

import build_rules
from exporter import catalogue
from rulebook.alert import Alert
from rulebook.profile import PRODUCTION, PROFILES, WORKSHOP, Profile
from tests.promql import selection

ROOT = build_rules.ROOT.parent
ALERTS = build_rules.alerts()
RECORDED = {rule.record for rule in build_rules.RECORDINGS}
NOT_SCRAPED = {"up"}
"""Made by Prometheus itself."""
NEVER_SILENT = {"Watchdog"}

each_alert = pytest.mark.parametrize("alert", ALERTS, ids=lambda alert: alert.name)
each_profile = pytest.mark.parametrize("profile", PROFILES, ids=lambda profile: profile.name)


def written(profile: Profile) -> dict[str, dict[str, object]]:
    """Alerts of the committed files, by name."""
    folder = build_rules.ROOT / ("rules" if profile is WORKSHOP else f"{profile.name}/rules")
    groups = [yaml.safe_load((folder / f"{name}.yml").read_text())["groups"] for name in ("training", "traditional")]
    return {rule["alert"]: rule for (group,) in groups for rule in group["rules"]}


def seconds(text: object) -> int:
    """A Prometheus duration."""
    found = re.fullmatch(r"(\d+)(s|m)", str(text))
    assert found is not None, text
    return int(found[1]) * {"s": 1, "m": 60}[found[2]]


def test_names_are_unique_and_both_sets_are_there() -> None:
    names = [alert.name for alert in ALERTS]
    assert len(set(names)) == len(names)
    assert {alert.set for alert in ALERTS} == {"training", "traditional"}


@each_alert
def test_it_reads_what_exists(alert: Alert) -> None:
    for metric in selection(alert.expr).metrics:
        assert metric in RECORDED | NOT_SCRAPED or catalogue.find(metric) is not None, metric


@each_alert
def test_set_operations_say_what_they_match_on(alert: Alert) -> None:
    """A bare `and` matches on every label, and with other labels on its sides it never fires."""
    expr = re.sub(r"\s+", " ", alert.expr)
    assert not re.search(r"\b(and|unless)\b(?! on \()", expr)


@each_alert
def test_words(alert: Alert) -> None:
    assert "{{" not in alert.summary, "the summary is the same for every instance"
    assert alert.summary.endswith(".")
    assert not re.search(r"query|\bby \(|rate\(", alert.description), "templates never call PromQL"
    assert len(alert.about) <= 120
    labels = set(re.findall(r"\$labels\.(\w+)", alert.description))
    assert labels <= {"run", "rank", "Hostname", "gpu", "UUID", "instance", "job", "source"}


@each_alert
def test_the_runbook_has_an_entry(alert: Alert) -> None:
    runbook = (ROOT / "RUNBOOK.md").read_text(encoding="utf-8")
    path, _, anchor = alert.runbook_url.partition("#")
    assert (ROOT / path).is_file()
    headings = re.findall(r"^## (.+)$", runbook, flags=re.MULTILINE)
    assert alert.name in headings
    assert anchor == alert.name.lower()
    entry = runbook.partition(f"\n## {alert.name}\n")[2].partition("\n## ")[0]
    for part in ("**You see**", "**Why**", "**Confirm**", "**Fix**", "**It worked when**"):
        assert part in entry, f"{alert.name}: {part}"


def test_the_runbook_has_no_entry_for_an_alert_that_is_gone() -> None:
    headings = re.findall(r"^## (.+)$", (ROOT / "RUNBOOK.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert {heading for heading in headings if " " not in heading} == {alert.name for alert in ALERTS}


@each_alert
def test_a_promtool_test_fires_it_and_another_keeps_it_silent_for_a_reason(alert: Alert) -> None:
    fires, silent = False, False
    for path in (build_rules.ROOT / "tests").glob("alerts_*.yml"):
        for test in yaml.safe_load(path.read_text(encoding="utf-8"))["tests"]:
            wanted = [rule["exp_alerts"] for rule in test["alert_rule_test"] if rule["alertname"] == alert.name]
            fires |= test["name"].startswith(f"{alert.name} fires") and all(wanted) and bool(wanted)
            silent |= test["name"].startswith(f"{alert.name} is silent") and not any(wanted) and bool(wanted)
    assert fires
    assert silent or alert.name in NEVER_SILENT


@each_profile
def test_the_files_hold_every_alert_with_its_labels(profile: Profile) -> None:
    rules = written(profile)
    assert list(rules) == [alert.name for alert in build_rules.alerts(profile)]
    for alert in build_rules.alerts(profile):
        rule = rules[alert.name]
        assert rule["expr"] == alert.expr
        assert rule["labels"] == {"severity": alert.severity, "set": alert.set}
        assert rule["annotations"] == {
            "summary": alert.summary,
            "description": alert.description,
            "runbook_url": f"RUNBOOK.md#{alert.name.lower()}",
        }


@each_profile
def test_no_single_sample_fires_an_alert_unless_it_says_so(profile: Profile) -> None:
    at_once = {"TrainingGradNormExploding", "TrainingLossNotFinite", "Watchdog"}
    for name, rule in written(profile).items():
        waits = seconds(rule["for"])
        assert waits == 0 if name in at_once else waits >= 2 * profile.scrape + profile.evaluate, name
        assert name == "Watchdog" or seconds(rule["keep_firing_for"]) >= waits or rule["labels"] != "training"


def test_windows_hold_four_scrapes() -> None:
    """Two make a rate, and one may be missing at either end."""
    for profile in PROFILES:
        for alert in build_rules.alerts(profile):
            for text in re.findall(r"\[(\d+[sm])\]", alert.expr):
                assert seconds(text) >= 4 * profile.scrape, f"{profile.name}: {alert.name}"


def test_profiles_differ_in_times_alone() -> None:
    def timeless(profile: Profile) -> list[str]:
        window = f"[{profile.window // 60}m]" if profile.window % 60 == 0 else f"[{profile.window}s]"
        exprs = [alert.expr.replace(window, "[window]") for alert in build_rules.alerts(profile)]
        return [re.sub(r">= \d+$", ">= most", expr) for expr in exprs]

    assert timeless(WORKSHOP) == timeless(PRODUCTION)
