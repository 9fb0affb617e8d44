"""Every scenario that comes with the product: its answers are among the first verdicts at some scrape."""

from __future__ import annotations

import pytest

from diagnosis.engine import diagnose
from diagnosis.ticks import series_of
from diagnosis.verdict import Verdict
from faults.book import FaultBook
from faults.scenario import Answer, Scenario
from faults.scenario_files import scenarios
from simulator.presets import PRESETS
from simulator.run import Run, topology_of

_FIRST = 4
_FROM_THE_START = frozenset({"sixty-four", "sixty-four-honest"})
"""What is wrong there always was: without a better minute of their own they are compared with nothing."""


def verdicts_of(scenario: Scenario) -> list[tuple[Verdict, ...]]:
    """The first verdicts at each scrape."""
    spec = PRESETS[scenario.preset]
    book = FaultBook(topology_of(spec), seed=scenario.seed)
    for number, fault in enumerate(scenario.timeline):
        book.put(f"fault-{number}", fault, at_seconds=0.0, next_step=0)
    run = Run(spec, seed=scenario.seed, run=scenario.id, faults=book)
    ticks = [run.advance() for _ in range(int(scenario.duration_seconds))][14::15]
    series = series_of(ticks)
    return [diagnose(series, at=tick.timestamp).verdicts[:_FIRST] for tick in ticks]


def says(verdicts: tuple[Verdict, ...], answer: Answer) -> bool:
    """Whether one of them is the answer, culprit included."""
    for verdict in verdicts:
        ranks = verdict.culprit.ranks if verdict.culprit else ()
        if verdict.cause == answer.cause and (answer.rank is None or str(answer.rank) in ranks):
            return True
    return False


@pytest.mark.parametrize("name", sorted(set(scenarios()) - _FROM_THE_START))
def test_every_scenario_gets_its_own_causes(name: str) -> None:
    scenario = scenarios()[name]
    seen = verdicts_of(scenario)
    for answer in scenario.answers:
        if answer.cause == "healthy":
            assert not any(seen)
        else:
            assert any(says(verdicts, answer) for verdicts in seen), (answer, seen[-1])
