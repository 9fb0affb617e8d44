"""Loaders, models and optimizers that are watched, here by stand-ins; tests/stack has the real ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from queue import Queue
from types import SimpleNamespace
from typing import Any

import pytest

from stepscope.recorder.loader import queue_of
from tests.recorder.parts import Bench, Clock


class Loader:
    """Takes 0.5 s for a batch, and 1 s to find that there is none left."""

    def __init__(self, clock: Clock, batches: int, *, fails_after: int | None = None) -> None:
        self.clock = clock
        self.batches = batches
        self.fails_after = fails_after
        self.dataset = "its own"

    def __len__(self) -> int:
        return self.batches

    def __iter__(self) -> Iterator[int]:
        for batch in range(self.batches):
            if batch == self.fails_after:
                raise OSError("a file is gone")
            self.clock.turn(0.5)
            yield batch
        self.clock.turn(1.0)


class Optimizer:
    """Steps in 0.25 s, with the hooks of torch.optim.Optimizer."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.before: list[Callable[..., None]] = []
        self.after: list[Callable[..., None]] = []
        self.register_step_pre_hook = self.before.append
        self.register_step_post_hook = self.after.append

    def step(self) -> None:
        for hook in self.before:
            hook(self, (), {})
        self.clock.turn(0.25)
        for hook in self.after:
            hook(self, (), {})


def test_the_loader_counts_steps_where_the_script_does_not(bench: Bench) -> None:
    loader = bench.rec.wrap_loader(Loader(bench.clock, 3))
    for _ in loader:
        bench.clock.turn(1.0)
    report = bench.report()
    assert report["steps"] == 3
    assert report["phases"]["data_wait"] == pytest.approx(2.5), "to find that there is no more is a wait as well"
    assert report["step_seconds"]["sum"] == pytest.approx(4.5)
    assert report["phases"]["stall"] == pytest.approx(3.0), "nobody said what the script does with a batch"


def test_a_script_that_opens_steps_counts_them_itself(bench: Bench) -> None:
    for _ in bench.rec.wrap_loader(Loader(bench.clock, 3)):
        with bench.rec.step(tokens=10), bench.rec.phase("forward"):
            bench.clock.turn(1.0)
    report = bench.report()
    assert (report["steps"], report["tokens"]) == (3, 30)
    assert report["step_seconds"]["sum"] == pytest.approx(4.5), "with the wait for the batch"
    assert report["phases"]["forward"] == pytest.approx(3.0)


def test_a_batch_fetched_inside_a_step_is_a_wait_of_it(bench: Bench) -> None:
    batches = iter(bench.rec.wrap_loader(Loader(bench.clock, 2)))
    for _ in range(2):
        with bench.rec.step():
            next(batches)
            with bench.rec.phase("forward"):
                bench.clock.turn(1.0)
    report = bench.report()
    assert report["phases"]["data_wait"] == pytest.approx(1.0)
    assert (report["steps"], report["step_seconds"]["sum"]) == (2, pytest.approx(3.0))


def test_an_iterator_stays_one(bench: Bench) -> None:
    batches: Any = bench.rec.wrap_loader(iter(Loader(bench.clock, 2)))
    assert [next(batches), *batches] == [0, 1]
    assert bench.report()["phases"]["data_wait"] == pytest.approx(2.0)


def test_a_fetch_inside_a_phase_of_the_script_is_what_the_script_says(bench: Bench) -> None:
    batches = iter(bench.rec.wrap_loader(Loader(bench.clock, 2)))
    with bench.rec.step(), bench.rec.phase("h2d"):
        next(batches)
    assert bench.report()["phases"]["h2d"] == pytest.approx(0.5)


def test_micro_batches_are_one_step_per_update(bench: Bench) -> None:
    loader, optimizer = bench.rec.watch(Loader(bench.clock, 7), Optimizer(bench.clock))
    for number, _ in enumerate(loader, start=1):
        bench.clock.turn(1.0)
        if number % 3 == 0:
            optimizer.step()
    report = bench.report()
    assert report["steps"] == 2, "the seventh batch led to no update"
    assert report["phases"]["optimizer"] == pytest.approx(0.5)
    assert report["step_seconds"]["sum"] == pytest.approx(2 * 4.75)


def test_an_update_that_is_left_out_is_a_step_where_the_script_says_how_many_batches_are_one(bench: Bench) -> None:
    loader, optimizer = bench.rec.watch(Loader(bench.clock, 4), Optimizer(bench.clock), accumulate=2)
    for number, _ in enumerate(loader):
        if number == 1:
            optimizer.step()
    assert bench.report()["steps"] == 2


def test_two_optimizers_make_one_step(bench: Bench) -> None:
    loader, first, second = bench.rec.watch(Loader(bench.clock, 2), Optimizer(bench.clock), Optimizer(bench.clock))
    for _ in loader:
        first.step()
        second.step()
    assert bench.report()["steps"] == 2


def test_what_follows_an_epoch_is_no_part_of_its_last_step(bench: Bench) -> None:
    loader, optimizer = bench.rec.watch(Loader(bench.clock, 10), Optimizer(bench.clock))
    for epoch in range(2):
        for number, _ in enumerate(loader):
            optimizer.step()
            if number == 3:
                break
        bench.clock.turn(100.0 * (epoch + 1))  # evaluation
    bench.rec.close()
    report = bench.listener.reports()[-1]
    assert report["steps"] == 8
    assert report["step_seconds"]["sum"] == pytest.approx(8 * 0.75)
    assert report["phases"]["stall"] == pytest.approx(300.0)


def test_a_loader_that_fails_raises_what_it_raised(bench: Bench) -> None:
    seen: list[int] = []
    with pytest.raises(OSError, match="a file is gone"):
        seen.extend(bench.rec.wrap_loader(Loader(bench.clock, 3, fails_after=2)))
    assert seen == [0, 1]
    bench.clock.turn(5.0)
    report = bench.report()
    assert report["steps"] == 2
    assert report["phases"]["stall"] == pytest.approx(5.0)


def test_a_watched_loader_is_its_loader_in_all_else(bench: Bench) -> None:
    loader: Any = bench.rec.wrap_loader(Loader(bench.clock, 3))
    assert len(loader) == 3
    assert loader.dataset == "its own"
    with pytest.raises(AttributeError, match="sampler"):
        _ = loader.sampler


def test_the_queue_is_what_has_arrived_early_or_late() -> None:
    ready: Queue[int] = Queue()
    ready.put(7)
    iterator = SimpleNamespace(
        _prefetch_factor=2, _num_workers=3, _data_queue=ready, _task_info={4: (0,), 5: (1, "early"), 6: (2,)}
    )
    assert queue_of(iterator) == (2.0, 6.0)


@pytest.mark.parametrize("iterator", [iter([1]), SimpleNamespace(_prefetch_factor=2), None])
def test_an_iterator_without_a_queue_has_none(iterator: object) -> None:
    assert queue_of(iterator) is None


def test_a_queue_can_be_told(bench: Bench) -> None:
    bench.rec.queue(3, 8)
    report = bench.report()
    assert (report["queue_batches"], report["capacity_batches"]) == (3.0, 8.0)


def test_what_cannot_be_watched_is_named(bench: Bench) -> None:
    with pytest.raises(ValueError, match=r"watch: argument 2 \(int\) is no model, no optimizer and no loader"):
        bench.rec.watch([1, 2], 3)
    with pytest.raises(ValueError, match="loader: int cannot be iterated"):
        bench.rec.wrap_loader(3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"model: object is not a torch\.nn\.Module"):
        bench.rec.watch_ddp(object())
    with pytest.raises(ValueError, match="accumulate: 0 is not 1 or more"):
        bench.rec.wrap_loader([1], accumulate=0)


def test_one_thing_comes_back_as_itself(bench: Bench) -> None:
    optimizer = Optimizer(bench.clock)
    assert bench.rec.watch(optimizer) is optimizer
    with bench.rec.step():
        optimizer.step()
    assert bench.report()["phases"]["optimizer"] == pytest.approx(0.25)
