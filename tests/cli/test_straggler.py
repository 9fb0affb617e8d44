"""`stepscope straggler`."""

from __future__ import annotations

import json

import pytest

from simulator import slowness
from simulator import straggler as calculator
from stepscope.cli import straggler
from tests.cli.conftest import Command, python


def test_json_is_the_table_of_the_simulator(stepscope: Command) -> None:
    status, out, err = stepscope(
        "straggler", "--gpus", "8,64,1024", "--slowdown", "1.1", "--ranks", "2", "--jitter", "0.01",
        "--distribution", "lognormal", "--stall-factor", "2", "--stall-rate", "0.005", "--seed", "9", "--json",
    )  # fmt: skip
    assert (status, err) == (0, "")
    causes = {"jitter": 0.01, "distribution": "lognormal", "stall_factor": 2.0, "stall_rate": 0.005}
    table = calculator.table([8, 64, 1024], slowdown=1.1, slow_ranks=2, seed=9, **causes)  # type: ignore[arg-type]
    assert json.loads(out) == table
    assert [list(row) for row in table] == [["gpus", "efficiency", "step_factor", "monte_carlo"]] * 3
    assert all(list(row["monte_carlo"]) == ["step_factor", "standard_error"] for row in table)


def test_a_persistent_factor_costs_the_same_at_every_size(stepscope: Command) -> None:
    rows = json.loads(stepscope("straggler", "--gpus", "8,64,1024,131072", "--slowdown", "1.1", "--json").out)
    assert {round(row["step_factor"], 12) for row in rows} == {1.1}


def test_the_seed_fixes_the_drawn_steps() -> None:
    words = ("-m", "stepscope", "straggler", "--gpus", "8", "--jitter", "0.02", "--json", "--seed")
    first, again, other = (python(*words, seed).stdout for seed in ("3", "3", "4"))
    assert first == again
    assert json.loads(first)[0]["efficiency"] == json.loads(other)[0]["efficiency"]
    assert json.loads(first)[0]["monte_carlo"] != json.loads(other)[0]["monte_carlo"]


def test_for_people(stepscope: Command) -> None:
    status, out, err = stepscope("straggler", "--gpus", "8,1024", "--slowdown", "1.1")
    assert (status, err) == (0, "")
    assert [line.split() for line in out.splitlines()[:3]] == [
        ["GPUs", "efficiency", "step", "factor", "drawn", "±", "standard", "error"],
        ["8", "90.9", "%", "1.1000", "1.1000", "0.0000"],
        ["1,024", "90.9", "%", "1.1000", "1.1000", "0.0000"],
    ]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "Nothing slows these jobs, so none of them loses anything; try --slowdown 1.1 or --jitter 0.01."),
        (("--slowdown", "2", "--ranks", "0"), "Nothing slows these jobs"),
        (
            ("--gpus", "8,1024", "--slowdown", "1.1"),
            "One rank that takes 1.1 times as long in every step costs 9.1 % of the work at every size, since all ",
        ),
        (
            ("--gpus", "8", "--communication", "0.5", "--overlap", "0.5"),
            "Communication that hides behind nothing costs 20.0 % of the work at 8 GPUs.",
        ),
        (
            ("--gpus", "8", "--slowdown", "1.1", "--ranks", "3"),
            "3 ranks that take 1.1 times as long in every step cost 9.1 % of the work at 8 GPUs, since all others",
        ),
        (
            ("--gpus", "1024,8", "--jitter", "0.01"),
            "Jitter of 1 % that each rank has for itself costs 1.4 % of the work at 8 GPUs and 3.1 % at 1,024, growing",
        ),
        (
            ("--gpus", "8,1024", "--stall-factor", "2", "--stall-rate", "0.01"),
            "Stalls of the whole job cost 1.0 % of the work at every size.",
        ),
        (
            ("--gpus", "1,8", "--jitter", "0.01", "--slowdown", "1.5"),
            "Each alone: one rank that takes 1.5 times as long in every step costs 33.3 % of the work at every size, ",
        ),
    ],
)
def test_the_sentence(stepscope: Command, words: tuple[str, ...], said: str) -> None:
    last = stepscope("straggler", *words).out.splitlines()[-1]
    assert last.startswith(said)


def test_each_cause_is_told_alone(stepscope: Command) -> None:
    words = ("--jitter", "0.01", "--slowdown", "1.5", "--stall-factor", "2", "--stall-rate", "0.01")
    *_, last = stepscope("straggler", "--gpus", "8,1024", *words).out.splitlines()
    parts = last.removeprefix("Each alone: ").split("; ")
    assert [part.split()[0] for part in parts] == ["one", "jitter", "stalls"]
    assert last.endswith(".")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--gpus", "8,x"), "--gpus: 'x' is not a whole number from 1 to 1000000"),
        (("--gpus", ""), "--gpus: '' is not a whole number from 1 to 1000000"),
        (("--gpus", "0"), "--gpus: '0' is not a whole number from 1 to 1000000"),
        (("--gpus", ",".join("8" * 65)), "--gpus: 65 counts are not 1 to 64"),
        (("--gpus", "4,8", "--ranks", "5"), "--ranks: 5 is not a whole number from 0 to 4"),
        (("--ranks", "-1"), "--ranks: '-1' is not a whole number of at least 0"),
        (("--slowdown", "0.9"), "--slowdown: 0.9 is not a number from 1 to 100"),
        (("--slowdown", "fast"), "--slowdown: 'fast' is not a number"),
        (("--jitter", "nan"), "--jitter: 'nan' is not a number"),
        (("--jitter", "2"), "--jitter: 2.0 is not a number from 0 to 1"),
        (("--distribution", "gamma"), "--distribution: 'gamma' is not one of normal, lognormal"),
        (("--stall-factor", "0"), "--stall-factor: 0.0 is not a number from 1 to 1000"),
        (("--stall-rate", "1.5"), "--stall-rate: 1.5 is not a number from 0 to 1"),
        (("--seed", "x"), "--seed: 'x' is not a whole number from 0 to 4294967295"),
    ],
)
def test_wrong_input(stepscope: Command, words: tuple[str, ...], said: str) -> None:
    status, out, err = stepscope("straggler", *words)
    assert (status, out) == (2, "")
    assert err.startswith(f"stepscope straggler: {said}")
    assert err.count("\n") == 1


def test_repeated_constants_agree() -> None:
    assert straggler.MOST_GPUS == slowness.MOST_GPUS
    assert straggler.DISTRIBUTIONS == slowness.DISTRIBUTIONS
