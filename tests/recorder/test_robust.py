"""Nothing that a script says keeps a report from being made or believed, nor the training from going on."""

from __future__ import annotations

import math
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from stepscope.recorder import StepRecorder
from tests.recorder.parts import Bench, recording

WRONG_NUMBERS: list[Any] = [math.inf, -math.inf, math.nan, 1e300, -1, 10**400, "three", None, NotImplemented]


@pytest.mark.parametrize(
    ("settings", "left_out"),
    [
        ({"tokens_per_step": 2**62}, {"tokens"}),
        ({"samples_per_step": 2**62}, {"samples"}),
        ({"flops_per_token": 1e308}, {"model_flops"}),
        ({"flops_per_token": None, "params": 1e300}, {"model_flops"}),
    ],
)
def test_a_total_beyond_all_reason_costs_only_itself(
    tmp_path: Path, settings: dict[str, Any], left_out: set[str]
) -> None:
    with recording(tmp_path, **({"tokens_per_step": 1000, "samples_per_step": 1} | settings)) as bench:
        for _ in range(3):
            with bench.rec.step():
                bench.clock.turn(1.0)
        report = bench.report()
    assert report["steps"] == 3
    assert left_out.isdisjoint(report)
    assert {"tokens", "samples"} - left_out <= report.keys()


@pytest.mark.parametrize("value", WRONG_NUMBERS, ids=lambda value: repr(value)[:12])
def test_a_queue_of_any_size_costs_only_itself(bench: Bench, value: Any) -> None:
    bench.rec.queue(3, value)
    bench.rec.queue(value, value)
    report = bench.report()
    assert report.get("queue_batches") in (None, 3.0)
    assert "capacity_batches" not in report


def test_a_queue_without_end_is_reported_without_its_capacity(bench: Bench) -> None:
    bench.rec.queue(3, math.inf)
    report = bench.report()
    assert report["queue_batches"] == 3.0
    assert "capacity_batches" not in report


@pytest.mark.parametrize(
    "settings",
    [
        {"world_size": 2**20 + 1},
        {"local_rank": 2**20 + 1},
        {"peak_flops_per_second": 1e19},
        {"socket": "a\0b"},
    ],
)
def test_what_no_exporter_would_take_is_said_at_the_start(settings: dict[str, Any]) -> None:
    (name,) = settings
    given: dict[str, Any] = {"run": "test", "tokens_per_step": 1, "flops_per_token": 6.0, "socket": "/nowhere/s"}
    with pytest.raises(ValueError, match=f"^{name}: "):
        StepRecorder(**(given | settings))


def test_the_end_of_a_training_never_fails_for_its_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(**_: object) -> bytes:
        raise RuntimeError("no report today")

    with recording(tmp_path) as bench:
        monkeypatch.setattr(bench.rec._core, "_report", broken)
        bench.rec.close()
    assert "the last report: no report today" in caplog.text


class _Interrupting:
    """A logged value during whose reading something else happens in the same thread, as a signal does."""

    def __init__(self, happens: Callable[[], None]) -> None:
        self._happens = happens

    def __float__(self) -> float:
        self._happens()
        return 1.0


@pytest.mark.skipif(sys.platform == "win32", reason="no such signals")
@pytest.mark.parametrize("closes", [False, True])
def test_a_signal_that_checkpoints_gets_through_in_the_middle_of_anything(tmp_path: Path, closes: bool) -> None:
    with recording(tmp_path) as bench:
        rec = bench.rec

        def preempted(*_: object) -> None:
            with rec.checkpoint():
                bench.clock.turn(2.0)
            rec.log(loss=2.0)
            if closes:
                rec.close()

        def train() -> None:
            with rec.step():
                rec.log(loss=_Interrupting(preempted))

        # In a thread of its own, so that a deadlock fails this test instead of stopping them all.
        training = threading.Thread(target=train, daemon=True)
        training.start()
        training.join(10.0)
        assert not training.is_alive(), "the handler waits for a lock that its own thread holds"
        report = bench.listener.reports()[-1] if closes else bench.report()
    assert report["checkpoints"] == 1
    assert report["phases"]["checkpoint"] == 2.0


def test_a_real_signal_gets_through_too(bench: Bench) -> None:
    seen: list[int] = []

    def handler(number: int, _: object) -> None:
        seen.append(number)
        bench.rec.log(loss=3.0)

    before = signal.signal(signal.SIGUSR1, handler)
    try:
        with bench.rec._core.books.lock:
            signal.raise_signal(signal.SIGUSR1)
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert seen == [signal.SIGUSR1]
    assert bench.report()["loss"] == 3.0
