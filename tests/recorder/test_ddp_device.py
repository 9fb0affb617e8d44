"""Collectives of DDP on a device, as under NCCL, by stand-ins: there was no GPU to try it on."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from stepscope.recorder.ddp import Averaging
from stepscope.recorder.model import Backward
from tests.recorder.fake_torch import FakeCuda
from tests.recorder.parts import recording

RANKS = 4


class Engine:
    """Runs what is queued in a backward pass when the pass has queued all its work."""

    def __init__(self) -> None:
        self.queued: list[Callable[[], None]] = []
        self.queue_callback = self.queued.append

    def finish(self) -> None:
        """Callbacks may queue more."""
        while self.queued:
            self.queued.pop(0)()


class Future:
    """Under NCCL a future is done at once for the host; what comes `then` is queued behind the collective."""

    def then(self, over: Callable[[Any], Any]) -> Any:
        return over(self)

    def value(self) -> str:
        return "averaged"


def test_exposed_and_overlapped_collectives_by_the_time_of_the_stream(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with recording(tmp_path) as bench:
        cuda, engine = FakeCuda(bench.clock), Engine()
        variable = SimpleNamespace(_execution_engine=engine)
        torch = SimpleNamespace(cuda=cuda, autograd=SimpleNamespace(Variable=variable))
        monkeypatch.setitem(sys.modules, "torch", torch)
        core = bench.rec._core
        backward = Backward(core, torch)

        def all_reduce(state: object, bucket: object) -> Future:
            cuda.launch(0.25)  # one stream here: the collective runs after the gradients that it averages
            return Future()

        averaging = Averaging(core, backward, hook=all_reduce, state=None, ranks=RANKS)
        buffer = SimpleNamespace(numel=lambda: 1000, element_size=lambda: 4, is_cuda=True)
        bucket = SimpleNamespace(buffer=lambda: buffer)
        for _ in range(2):
            with bench.rec.step():
                backward.begins()
                for _ in range(2):
                    cuda.launch(1.0)
                    assert averaging.reduce(bucket) == "averaged"
                engine.queue_callback(lambda: cuda.launch(0.5))  # DDP: the stream waits for the collectives
                engine.finish()
        assert bench.report()["steps"] == 0, "all of it was only queued"
        bench.clock.turn(10.0)
        report = bench.report()
    assert report["steps"] == 2
    assert report["phases"]["backward"] == pytest.approx(2 * 2.5)
    assert report["phases"]["collective"] == pytest.approx(2 * 0.5)
    assert report["collective_seconds"] == pytest.approx(4 * 0.25)
    assert report["collective_bytes"] == 4 * 4000 * 2 * (RANKS - 1) / RANKS


def test_a_bucket_that_cannot_be_timed_is_averaged_all_the_same(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with recording(tmp_path) as bench:
        torch = SimpleNamespace(autograd=SimpleNamespace(Variable=SimpleNamespace(_execution_engine=None)))
        backward = Backward(bench.rec._core, torch)
        averaging = Averaging(bench.rec._core, backward, hook=lambda *_: Future(), state=None, ranks=RANKS)
        for _ in range(3):
            assert averaging.reduce(object()) == "averaged"
    assert len(caplog.records) == 1
