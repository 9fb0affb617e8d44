"""`stepscope evaluate`: a summary for programs and one for people."""

from __future__ import annotations

import json

from tests.cli.conftest import Command

KEYS = (
    "cause_accuracy", "culprit_accuracy", "mild_accuracy", "false_alarm_rate", "compound_top3",
    "median_seconds_to_verdict",
)  # fmt: skip


def test_json_has_the_summary_the_confusion_and_the_misses(stepscope: Command) -> None:
    found = stepscope("evaluate", "--incidents", "2", "--seed", "5", "--processes", "1", "--json")
    assert (found.status, found.err) == (0, "")
    shown = json.loads(found.out)
    assert shown["seed"] == 5
    assert shown["summary"]["incidents"] == 2
    assert set(KEYS) <= set(shown["summary"])
    assert {"confusion", "by_kind", "misses"} <= set(shown)


def test_for_people(stepscope: Command) -> None:
    found = stepscope("evaluate", "--incidents", "2", "--seed", "5", "--processes", "1")
    assert found.status == 0
    assert "2 incidents of seed 5" in found.out
    assert "misses:" in found.out


def test_no_incidents_are_refused(stepscope: Command) -> None:
    assert stepscope("evaluate", "--incidents", "0").status == 2
