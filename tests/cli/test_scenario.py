"""`stepscope scenario …` against a lab that runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import TOKEN, Command

OWN = """
id: mine
title: Mine
question: Which?
preset: workshop-4gpu
duration_seconds: 10
timeline: [{at_seconds: 5, fault: {kind: straggler, duration_seconds: 2}}]
answer: {cause: straggler, rank: 0, remedy: none}
"""


def test_list_show_run_and_stop(lab: Command) -> None:
    assert "film" in lab("scenario", "list").out
    shown = lab("scenario", "show", "film")
    assert "hint:" not in shown.out
    assert "hint: " in lab("scenario", "show", "film", "--hints").out
    status, out, err = lab("scenario", "run", "film", "--speed", "4", "--seed", "3")
    assert (status, err) == (0, "")
    assert "over in 75 s" in out
    found = json.loads(lab("scenario", "list", "--json").out)["playbacks"][-1]
    assert (found["scenario"], found["state"], found["seed"], found["speed"]) == ("film", "playing", 3, 4)
    assert f"{found['id']}: stopped" in lab("scenario", "stop").out
    status, out, err = lab("scenario", "stop")
    assert (status, out) == (2, "")
    assert "nothing plays now" in err


def test_an_answer_needs_the_token(lab: Command) -> None:
    status, out, err = lab("scenario", "show", "film", "--answer", "--token", "wrong")
    assert (status, out) == (1, "")
    assert "token" in err
    assert "answer: io_starvation, nobody to name" in lab("scenario", "show", "film", "--answer", "--token", TOKEN).out


def test_a_file_of_your_own_until_it_is_over(lab: Command, tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(OWN, encoding="utf-8")
    status, out, err = lab("scenario", "run", str(file), "--speed", "10", "--wait")
    assert (status, err) == (0, "")
    assert out.endswith(": over\n")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (OWN.replace("id: mine", "id: Mine"), "id: must be"),
        (OWN.replace("straggler, dur", "strangler, dur"), "timeline.0.fault.kind: must be one of"),
        ("[", "line 1: is not YAML"),
    ],
)
def test_a_file_that_is_wrong_is_said_before_the_lab_is_asked(
    lab: Command, tmp_path: Path, text: str, said: str
) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(text, encoding="utf-8")
    status, out, err = lab("scenario", "run", str(file))
    assert (status, out) == (2, "")
    assert f"FILE {file}: {said}" in err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("run", "nothing"), "ID|FILE: must be an object, or one of"),
        (("run", "nothing.yaml"), "FILE nothing.yaml: cannot be read"),
        (("run", "film", "--speed", "0"), "--speed: must be a number from 0.25 to 10"),
        (("show", "nothing"), "no scenario of this id"),
        (("stop", "film-99"), "no playback of this id"),
    ],
)
def test_wrong_words(lab: Command, words: tuple[str, ...], said: str) -> None:
    status, out, err = lab("scenario", *words)
    assert status in (1, 2)
    assert out == ""
    assert said in err
