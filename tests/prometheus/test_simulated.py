"""The table of expectations, and the way from a simulated run to promtool's series."""

from __future__ import annotations

import pytest

import build_rules
from faults.registry import kinds
from rulebook.profile import PRODUCTION
from simulator.headless import start
from simulator.presets import preset
from tests.prometheus.expectations import EXPECTED, expected
from tests.prometheus.simulated import Stored, families_read, scraped

TRAINING = {alert.name for alert in build_rules.alerts() if alert.set == "training"}
TRADITIONAL = {alert.name for alert in build_rules.alerts() if alert.set == "traditional"}
UNSEEN = {"loss_plateau"}
"""Kinds that no rule looks for: over minutes the slope of a loss is far below its noise."""


@pytest.mark.parametrize("kind", kinds())
def test_every_kind_of_fault_has_an_expectation(kind: str) -> None:
    assert expected(kind)


def test_a_kind_without_one_says_what_to_do() -> None:
    with pytest.raises(AssertionError, match=r"'flood' has no expectation: say in tests\.prometheus\.expectations"):
        expected("flood")


def test_expectations_name_kinds_and_alerts_that_exist() -> None:
    assert set(EXPECTED) <= set(kinds())
    for case in (case for cases in EXPECTED.values() for case in cases):
        assert case.fires | case.may <= TRAINING
        assert case.traditional <= TRADITIONAL


def test_every_cause_in_the_table_fires_something_somewhere() -> None:
    quiet = {kind for kind in EXPECTED if not any(case.fires | case.traditional for case in expected(kind))}
    assert quiet == {"none"} | UNSEEN


def test_a_scraped_run_has_the_names_labels_and_values_of_the_pages() -> None:
    stored = scraped(start(preset("workshop-4gpu"), seed=1), seconds=21)
    assert stored.scrapes == 5
    assert stored.values['up{instance="node-00",job="stepscope"}'] == ["1"] * 5
    steps = stored.values['training_model_flops_total{run="workshop-4gpu",instance="run",job="stepscope"}']
    assert [float(value) for value in steps] == sorted(map(float, steps))
    assert len([series for series in stored.values if series.startswith("DCGM_FI_DEV_GPU_UTIL{")]) == 4
    names = {series.partition("{")[0] for series in stored.values}
    assert names <= families_read()
    assert families_read() - names <= {
        name for name in families_read() if name.startswith(("training_network_", "training_loss", "training_last_"))
    }, "a rule reads what this job does not export"


def test_nodes_are_scraped_seconds_apart() -> None:
    stored = scraped(start(preset("anatomy-32gpu"), seed=1), seconds=61, profile=PRODUCTION)
    total = {
        node: sum(
            float(values[-1])
            for series, values in stored.values.items()
            if series.startswith("training_phase_seconds_total{") and f'instance="{node}"' in series
        )
        for node in ("node-00", "node-03")
    }
    assert total["node-00"] - total["node-03"] == pytest.approx(8 * 3)


def test_a_series_that_ends_is_marked_once_and_one_that_begins_late_has_no_past() -> None:
    stored = Stored(5)
    stored.scrape([("a", "1"), ("n", "NaN")])
    stored.scrape([("a", "1"), ("n", "NaN")])
    stored.scrape([("b", "2")])
    stored.scrape([("b", "3")])
    assert {series["series"]: series["values"] for series in stored.input_series()} == {
        "a": "1x1 stale _",
        "n": "NaN NaN stale _",
        "b": "_x2 2 3",
    }
