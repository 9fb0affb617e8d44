"""`stepscope job …` against a lab that runs."""

from __future__ import annotations

import json

import pytest

from tests.cli.conftest import Command


def test_another_job_takes_the_place_of_what_runs(lab: Command) -> None:
    first = json.loads(lab("job", "show", "--json").out)["run"]
    status, out, err = lab("job", "start", "trap-87", "--seed", "9")
    assert (status, err) == (0, "")
    assert out.startswith("trap-87-")
    assert "mind: a constructed example" in out
    now = json.loads(lab("job", "show", "--json").out)["run"]
    assert (now["preset"], now["seed"]) == ("trap-87", 9)
    assert now["run"] != first["run"]
    assert "trap-87, seed 9, 4 × NVIDIA H100" in lab("job", "show").out
    assert lab("job", "start", first["preset"]).status == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("start", "trap87"), "PRESET: 'trap87' is not one of workshop-4gpu, fragile-4gpu"),
        (("start", "trap-87", "--seed", "-1"), "--seed: '-1' is not a whole number from 0"),
        (("start",), "the following arguments are required: PRESET"),
    ],
)
def test_wrong_words(lab: Command, words: tuple[str, ...], said: str) -> None:
    status, out, err = lab("job", *words)
    assert (status, out) == (2, "")
    assert said in err
