"""Scenario files: those that come with the product, and what YAML can do to somebody who reads it carelessly."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from faults.errors import FaultError
from faults.registry import kinds
from faults.scenario import Scenario
from faults.scenario_files import MAX_BYTES, load_scenario, read_mapping, scenarios

GOOD = """
id: mine
title: Mine
question: Which?
preset: workshop-4gpu
duration_seconds: 60
timeline: [{at_seconds: 10, fault: {kind: straggler, duration_seconds: 20}}]
answer: {cause: straggler, rank: 0, remedy: none}
"""


@pytest.mark.parametrize("scenario", scenarios().values(), ids=list(scenarios()))
def test_those_that_come_along_ask_and_answer(scenario: Scenario) -> None:
    causes = {spec.kind for spec in scenario.timeline} - {"none"}
    assert {answer.cause for answer in scenario.answers} == (causes or {"healthy"})
    assert scenario.question.endswith("?")
    assert scenario.hints
    for spec in scenario.timeline:
        assert spec.open_ended or spec.start_after_seconds + (spec.duration_seconds or 0) < scenario.duration_seconds
        assert spec.start_after_seconds >= 60, "the job needs a minute to be seen healthy"
    for answer in scenario.answers:
        targets = [spec.target for spec in scenario.timeline if spec.kind == answer.cause]
        if answer.rank is not None:
            assert any(target and target.mode == "ranks" and target.value == (answer.rank,) for target in targets)
    assert set(scenario.faults(speed=4)) == set(scenario.fault_names)


def test_titles_and_questions_do_not_give_the_answer_away() -> None:
    for scenario in scenarios().values():
        said = f"{scenario.id} {scenario.title} {scenario.question}".lower().replace("-", "_").replace(" ", "_")
        for kind in kinds():
            assert kind == "none" or not re.search(rf"(?<![a-z]){kind}(?![a-z])", said), (scenario.id, kind)


def test_a_file_as_the_api_takes_it(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(GOOD, encoding="utf-8")
    value = read_mapping(file)
    assert isinstance(value, dict)
    assert Scenario.from_mapping(value) == load_scenario(GOOD)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("id: [", "line 1: is not YAML"),
        ("", "must be an object"),
        ("- 1", "must be an object"),
        (GOOD + "id: again", "key 'id' is there twice"),
        (GOOD.replace("title: Mine", "title: &x Mine\nhints: [*x]"), "aliases are not taken"),
        (GOOD.replace("Mine", "!!python/object/apply:os.system ['true']"), "is not YAML"),
        (GOOD.replace("title: Mine", "1: Mine"), "key 1 is not text"),
        (GOOD.replace("Mine", "2026-01-01"), "title: must be a string"),
        ("[" * 5_000, "nested too deeply"),
        (" " * (MAX_BYTES + 1), "must be at most"),
        ("id: \x00", "is not YAML"),
        (GOOD.replace("Mine", '"\\e[2JNothing is wrong"'), "title: must hold no control characters"),
        (GOOD.replace("Which?", '"\\a?"'), "question: must hold no control characters"),
    ],
)
def test_what_is_no_scenario_is_refused_in_a_line(text: str, said: str) -> None:
    with pytest.raises(FaultError) as caught:
        load_scenario(text)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_that_is_not_text(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_bytes(b"id: \xff\xfe")
    with pytest.raises(FaultError, match="is not UTF-8"):
        read_mapping(file)
    file.write_bytes(b"a" * (MAX_BYTES + 10))
    with pytest.raises(FaultError, match="must be at most"):
        read_mapping(file)
