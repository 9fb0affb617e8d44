"""Every command of the workbook works: headless ones as they stand, the others against a lab that runs."""

from __future__ import annotations

import json
import shlex

import pytest

from stepscope.cli.main import main
from tests.api.conftest import Bench
from tests.cli.conftest import TOKEN, running_lab
from tests.workbook.pages import EXERCISES, page

ALONE = ("simulate", "straggler", "nccl-test")
"""Commands that need no lab."""


def words_of(command: str) -> list[str]:
    return shlex.split(command)


HEADLESS = sorted(
    {
        command
        for name in EXERCISES
        for command in page("en", name).commands
        if words_of(command)[0] == "stepscope" and words_of(command)[1] in ALONE
    }
)


@pytest.mark.parametrize("command", HEADLESS)
def test_what_needs_no_lab_runs_as_it_stands(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words_of(command)[1:]) == 0
    assert capsys.readouterr().out


def test_every_command_is_one_that_is_tested_here() -> None:
    for name in ("README.md", *EXERCISES):
        for command in page("en", name).commands:
            first, second, *_ = words_of(command)
            assert first == "curl" or (first, second == "") == ("stepscope", False), command
            assert first == "curl" or second in (*ALONE, "lab", "fault", "remedy", "scenario", "diagnose"), command


def test_what_needs_a_lab_works_on_one_in_the_order_of_the_pages(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with running_lab("--seed", "7", "--token", TOKEN) as lab:
        monkeypatch.setenv("STEPSCOPE_URL", lab.url)
        for name in EXERCISES:
            for command in page("en", name).commands:
                words = words_of(command)
                if words[0] == "stepscope" and words[1] not in (*ALONE, "lab"):
                    status = main(words[1:])
                    out, err = capsys.readouterr()
                    assert status in ((0, 1) if words[1] == "diagnose" else (0,)), (command, out, err)


def test_the_requests_are_taken_by_the_api() -> None:
    bench = Bench()
    bench.engine.pump()
    bench.turn(2)
    asked = [command for name in EXERCISES for command in page("en", name).commands if command.startswith("curl")]
    assert len(asked) == 3
    for command in asked:
        words = words_of(command)
        method = words[words.index("-X") + 1] if "-X" in words else "GET"
        path = next(word for word in words if word.startswith("127.0.0.1:8000")).removeprefix("127.0.0.1:8000")
        body = json.loads(words[words.index("-d") + 1]) if "-d" in words else None
        answer = bench.client.request(method, path, json=body)
        assert answer.is_success, answer.text
