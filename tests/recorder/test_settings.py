"""What a recorder is told, and what it takes from the launcher."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from stepscope.recorder import StepRecorder
from tests.recorder.parts import recording

GOOD: dict[str, Any] = {"run": "test", "tokens_per_step": 1, "flops_per_token": 6.0, "socket": "/nowhere/s"}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"run": ""}, r"^run: '' is not 1 to 128 printable"),
        ({"run": "x" * 129}, "^run: "),
        ({"run": "two\nlines"}, "^run: "),
        ({"run": 7}, "^run: 7 is not"),
        ({"model": "\ud800"}, "^model: "),
        ({"tokens_per_step": -1}, "^tokens_per_step: -1 is not 0 or more"),
        ({"tokens_per_step": 2.5}, "^tokens_per_step: 2.5 is not a whole number"),
        ({"samples_per_step": "8"}, "^samples_per_step: '8' is not a whole number"),
        ({"flops_per_token": 0}, "^flops_per_token: 0.0 is not a finite number above 0"),
        ({"flops_per_token": float("inf")}, "^flops_per_token: inf"),
        ({"flops_per_token": "6N"}, "^flops_per_token: '6N' is not a number"),
        ({"flops_per_token": None}, "^flops_per_token, params: give one of the two"),
        ({"params": 1e9}, "^flops_per_token, params: give one of the two"),
        ({"params": -1.0, "flops_per_token": None}, "^params: -1.0"),
        ({"peak_flops_per_second": float("nan")}, "^peak_flops_per_second: nan"),
        ({"rank": 2, "world_size": 2}, "^rank: 2 is not below world_size, which is 2"),
        ({"rank": -1}, "^rank: -1"),
        ({"world_size": 0}, "^world_size: 0 is not 1 or more"),
        ({"socket": ""}, "^socket: '' is not a path"),
        ({"socket": 5}, "^socket: 5 is not a path"),
        ({"socket": b"/nowhere/s"}, "^socket: b'/nowhere/s' is not a path"),
    ],
)
def test_what_is_wrong_is_named(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        StepRecorder(**{**GOOD, **settings})


def test_what_the_launcher_says_wrong_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANK", "first")
    with pytest.raises(ValueError, match=r"^RANK: 'first' in the environment is not a whole number from 0"):
        StepRecorder(**GOOD)


def test_the_launcher_says_which_rank_this_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name, value in {"RANK": "5", "WORLD_SIZE": "8", "LOCAL_RANK": "1", "CUDA_VISIBLE_DEVICES": "2,3"}.items():
        monkeypatch.setenv(name, value)
    with recording(tmp_path) as bench:
        report = bench.report()
    assert [report[name] for name in ("rank", "world_size", "local_rank")] == [5, 8, 1]
    assert report["gpu"] == {"visible_devices": "2,3"}


def test_an_argument_goes_before_the_launcher(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("RANK", "nonsense")
    with recording(tmp_path, rank=1, world_size=2) as bench:
        assert bench.report()["rank"] == 1


def test_six_flops_per_parameter_when_there_is_nothing_better(tmp_path: Path) -> None:
    with recording(tmp_path, flops_per_token=None, params=1e9, tokens_per_step=10) as bench:
        with bench.rec.step():
            pass
        report = bench.report()
    assert report["model_flops"] == 6e10
    assert report["flops_convention"] == "6N"


def test_what_is_not_known_is_not_reported(tmp_path: Path) -> None:
    with recording(tmp_path) as bench:
        report = bench.report()
    unknown = {
        "model", "precision", "strategy", "flops_convention", "peak_flops_per_second", "samples", "collective_seconds",
        "collective_bytes", "queue_batches", "loss", "grad_norm", "learning_rate", "loss_scale", "last_step_time",
    }  # fmt: skip
    assert not unknown & set(report)
    assert report["gpu"] == {}


def test_the_longest_texts_fit_in_a_datagram(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", '"' * 4096)
    longest = "\N{GRINNING FACE}" * 128
    names = ("run", "model", "precision", "strategy", "flops_convention")
    with recording(tmp_path, **dict.fromkeys(names, longest)) as bench:
        assert bench.report()["run"] == longest
