"""The `expect` of every scenario against the shipped rules."""

from __future__ import annotations

from pathlib import Path

import pytest

from faults.scenario import Scenario
from faults.scenario_files import scenarios
from simulator.headless import start
from simulator.presets import preset
from tests.prometheus.promtool import ask, fired, firing
from tests.prometheus.simulated import scraped

pytestmark = pytest.mark.stack

LONGEST = 300
"""Seconds of a scenario that are looked at."""


@pytest.mark.parametrize("scenario", scenarios().values(), ids=list(scenarios()))
def test_the_rules_say_what_the_scenario_expects(scenario: Scenario, tmp_path: Path) -> None:
    run = start(preset(scenario.preset), seed=scenario.seed)
    for name, spec in scenario.faults().items():
        run.faults.put(name, spec, at_seconds=0.0, next_step=0)
    # Some give people time to play; what fires has fired long before.
    end = min(int(scenario.duration_seconds), LONGEST)
    stored = scraped(run, seconds=end + 1)
    first = min((spec.start_after_seconds for spec in scenario.timeline), default=end)
    expect = scenario.expect
    assert expect.silent is None, "those that come along name every alert that fires"
    questions = (
        firing((), at=int(first) - 5),
        fired(frozenset(expect.alerts), until=end, but=frozenset(expect.may)),
    )
    assert not (problems := ask(stored, questions, folder=tmp_path)), problems
