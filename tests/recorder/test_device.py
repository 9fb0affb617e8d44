"""Phases by the device's own time, and values that come from it, without ever waiting for it."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from stepscope.recorder.books import Books
from stepscope.recorder.busy import Busy
from stepscope.recorder.device import MAX_PENDING, DeviceTimeline
from stepscope.recorder.trouble import Trouble
from tests.recorder.fake_torch import FakeCuda, FakeTensor
from tests.recorder.parts import Bench, Clock, recording


@pytest.fixture
def gpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Bench, FakeCuda]]:
    with recording(tmp_path) as bench:
        cuda = FakeCuda(bench.clock)
        monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(cuda=cuda))
        yield bench, cuda


def step(bench: Bench, cuda: FakeCuda, *, late: float = 0.0) -> None:
    """The host is through in 1 ms and the device in a second, longer when the batch is late."""
    with bench.rec.step():
        with bench.rec.phase("data_wait"):
            bench.clock.turn(late)
        for name, seconds in {"forward": 0.25, "backward": 0.5, "optimizer": 0.25}.items():
            with bench.rec.phase(name):
                cuda.launch(seconds)
                bench.clock.turn(0.00025)


def test_phases_have_the_time_of_the_device_not_of_the_host(gpu: tuple[Bench, FakeCuda]) -> None:
    bench, cuda = gpu
    for _ in range(3):
        step(bench, cuda)
    assert bench.report()["steps"] == 0, "the device has only begun"
    bench.clock.turn(10.0)
    report = bench.report()
    assert report["steps"] == 3
    assert report["phases"]["forward"] == pytest.approx(0.75, abs=0.002)
    assert report["phases"]["backward"] == pytest.approx(1.5, abs=0.002)
    assert report["phases"]["optimizer"] == pytest.approx(0.75, abs=0.002)
    assert report["phases"]["data_wait"] == pytest.approx(0.0, abs=0.002)
    assert report["step_seconds"]["sum"] == pytest.approx(3.0, abs=0.002)
    assert report["last_step_time"] == pytest.approx(report["time"] - 7.0, abs=0.01)


def test_the_phases_add_up_to_wall_clock_also_while_the_device_is_behind(gpu: tuple[Bench, FakeCuda]) -> None:
    bench, cuda = gpu
    before: dict[str, float] = {}
    for _ in range(40):
        step(bench, cuda)
        bench.clock.turn(0.31)
        report = bench.report()
        assert sum(report["phases"].values()) == pytest.approx(report["time"] - report["started"], abs=1e-4)
        assert all(spent >= before.get(name, 0.0) for name, spent in report["phases"].items()), "no total falls"
        before = report["phases"]


def test_a_late_batch_counts_only_while_the_device_has_nothing_to_do(gpu: tuple[Bench, FakeCuda]) -> None:
    bench, cuda = gpu
    step(bench, cuda)
    # The second batch comes 1.4 s later; for the first second of that the device is still busy.
    step(bench, cuda, late=1.4)
    bench.clock.turn(10.0)
    assert bench.report()["phases"]["data_wait"] == pytest.approx(0.4, abs=0.005)


def test_the_rank_says_which_gpu_it_has(gpu: tuple[Bench, FakeCuda]) -> None:
    bench, cuda = gpu
    step(bench, cuda)
    claim = bench.report()["gpu"]
    assert claim == {"device_index": 1, "name": "NVIDIA H100 80GB HBM3", "uuid": "GPU-8f0e-index-1"}


def test_events_are_used_again(gpu: tuple[Bench, FakeCuda]) -> None:
    bench, cuda = gpu
    made = []
    for _ in range(50):
        step(bench, cuda)
        bench.clock.turn(2.0)
        bench.rec._core.beat()
        made.append(cuda.events)
    assert made[-1] == made[1], "steady after the first steps"


def test_a_device_that_is_far_behind_costs_detail_and_no_step() -> None:
    clock, trouble = Clock(), Trouble()
    cuda = FakeCuda(clock)
    books = Books(clock.now, flops_per_token=1.0)
    timeline = DeviceTimeline(books, clock, torch=SimpleNamespace(cuda=cuda), trouble=trouble)
    cuda.launch(60.0)
    for _ in range(MAX_PENDING):
        timeline.mark(books.begin_step)
        timeline.turn(3)
        timeline.mark(books.end_step, 1, 1)
    assert timeline.events == cuda.events == MAX_PENDING, "the pool is bounded"
    assert not timeline.settle(now=clock.now)
    clock.turn(61.0)
    assert timeline.settle(now=clock.now)
    assert books.steps == MAX_PENDING
    assert sum(books.seconds_until(clock.now)) == pytest.approx(61.0)


def test_a_device_that_fails_leaves_the_time_of_the_host(
    gpu: tuple[Bench, FakeCuda], caplog: pytest.LogCaptureFixture
) -> None:
    bench, cuda = gpu
    step(bench, cuda)
    cuda.fails = True
    bench.clock.turn(5.0)
    step(bench, cuda)
    with bench.rec.step(), bench.rec.phase("forward"):
        bench.clock.turn(2.0)
    report = bench.report()
    assert report["steps"] == 3
    assert sum(report["phases"].values()) == pytest.approx(report["time"] - report["started"], abs=1e-4)
    assert len(caplog.records) == 1, "said once"


def test_a_script_can_stay_with_the_clock_of_the_host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with recording(tmp_path, cuda_events=False) as bench:
        cuda = FakeCuda(bench.clock)
        monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(cuda=cuda))
        step(bench, cuda)
        assert cuda.events == 0
        assert bench.report()["steps"] == 1


def test_closing_waits_a_moment_for_the_last_marks(gpu: tuple[Bench, FakeCuda]) -> None:
    bench, cuda = gpu
    with bench.rec.step(), bench.rec.phase("forward"):
        cuda.launch(0.1)
    bench.rec.close()
    assert bench.listener.reports()[-1]["steps"] == 1


def test_a_logged_tensor_is_read_when_it_has_arrived(gpu: tuple[Bench, FakeCuda]) -> None:
    bench, cuda = gpu
    cuda.launch(5.0)
    bench.rec.log(loss=FakeTensor(2.5), grad_norm=FakeTensor(math.nan), lr=0.1, skipped=FakeTensor(1.0))
    assert "loss" not in bench.report()
    bench.clock.turn(6.0)
    report = bench.report()
    assert (report["loss"], report["grad_norm"], report["learning_rate"]) == (2.5, "NaN", 0.1)
    assert (report["nonfinite_steps"], report["skipped_steps"], report["grad_norm_spikes"]) == (1, 1, 1)


def test_steps_that_the_device_has_not_done_yet_are_told_apart(gpu: tuple[Bench, FakeCuda]) -> None:
    bench, cuda = gpu
    for _ in range(3):
        with bench.rec.step():
            cuda.launch(1.0)
            bench.rec.log(loss=FakeTensor(math.nan))
    bench.clock.turn(10.0)
    assert bench.report()["nonfinite_steps"] == 3


def test_a_tensor_that_is_no_number_is_left_out(gpu: tuple[Bench, FakeCuda], caplog: pytest.LogCaptureFixture) -> None:
    bench, _ = gpu
    for _ in range(3):
        bench.rec.log(loss=FakeTensor(1.0, numel=4), grad_norm=0.5)
    report = bench.report()
    assert "loss" not in report
    assert report["grad_norm"] == 0.5
    assert len(caplog.records) == 1


def test_collectives_on_the_device_are_counted_once_where_one_waits_for_another() -> None:
    clock = Clock()
    cuda = FakeCuda(clock)
    busy = Busy(clock)
    busy.moves(1e9)
    first, second = cuda.Event(), cuda.Event()
    first.record()
    second.record()  # ready at once, and runs after the first
    ends = [cuda.Event(), cuda.Event()]
    for end in ends:
        cuda.launch(1.0)
        end.record()
    busy.device_span(first, ends[0])
    busy.device_span(second, ends[1])
    assert not busy.settle()
    clock.turn(5.0)
    assert busy.settle()
    totals = busy.totals()
    assert totals is not None
    assert totals == pytest.approx((2.0, 1e9))
