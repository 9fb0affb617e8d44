"""The recorder's hooks on the real PyTorch: what they see, and that they change nothing."""

from __future__ import annotations

import contextlib
import copy
import runpy
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from stepscope.recorder.books import COLLECTIVE
from tests.recorder.parts import Bench, recording
from tests.stack.real import eventually
from tests.stack.real_job import EXAMPLE, need_torch

pytestmark = pytest.mark.stack


@pytest.fixture(scope="module")
def torch() -> Any:
    need_torch()
    import torch

    torch.set_num_threads(1)
    return torch


@pytest.fixture(scope="module")
def group(torch: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A process group of one rank: its collectives are real, and move nothing."""
    import torch.distributed as dist

    store = tmp_path_factory.mktemp("group") / "store"
    dist.init_process_group("gloo", init_method=f"file://{store}", rank=0, world_size=1)
    yield dist
    dist.destroy_process_group()


@pytest.fixture
def bench(tmp_path: Path, torch: Any) -> Iterator[Bench]:
    with recording(tmp_path) as made:
        yield made


class Told:
    """A model part that lets the recorder's clock go on by a second, forward, and by two, backward."""

    def __new__(cls, torch: Any, bench: Bench) -> Any:
        class Slow(torch.autograd.Function):
            @staticmethod
            def forward(context: Any, x: Any) -> Any:
                bench.clock.turn(1.0)
                return x.clone()

            @staticmethod
            def backward(context: Any, gradient: Any) -> Any:
                bench.clock.turn(2.0)
                return gradient

        class Layer(torch.nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.inner = torch.nn.Linear(4, 4)

            def forward(self, x: Any) -> Any:
                return {"logits": [Slow.apply(self.inner(x))], "note": "not a tensor"}

        torch.manual_seed(0)
        return Layer()


def test_forward_backward_and_update_are_told_apart(torch: Any, bench: Bench) -> None:
    model = Told(torch, bench)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    batches = [torch.ones(2, 4)] * 3
    model, loader, optimizer = bench.rec.watch(model, batches, optimizer)
    for batch in loader:
        loss = model(batch)["logits"][0].square().sum()
        bench.clock.turn(0.5)  # the loss belongs to forward
        loss.backward()
        bench.clock.turn(0.25)  # clipping belongs to the update
        optimizer.step()
        optimizer.zero_grad()
        bench.rec.log(loss=loss, grad_norm=torch.tensor(1.0))
        with torch.no_grad():
            model(batch)  # evaluation is no forward pass of training
    report = bench.report()
    phases = {name: spent for name, spent in report["phases"].items() if spent}
    assert phases == pytest.approx({"forward": 4.5, "backward": 6.0, "optimizer": 0.75, "stall": 3.0})
    assert report["steps"] == 3
    assert report["loss"] == pytest.approx(loss.item())


def test_a_backward_pass_that_fails_is_over(torch: Any, bench: Bench) -> None:
    model = Told(torch, bench)
    bench.rec.watch(model)

    def broken(gradient: Any) -> None:
        raise MemoryError

    with bench.rec.step():
        logits = model(torch.ones(2, 4))["logits"][0]
        model.inner.weight.register_hook(broken)
        with pytest.raises(MemoryError):
            logits.sum().backward()
    model.inner.weight._backward_hooks.clear()
    with bench.rec.step():
        model(torch.ones(2, 4))["logits"][0].sum().backward()
        bench.clock.turn(8.0)
    report = bench.report()
    assert report["phases"]["backward"] == pytest.approx(4.0)
    assert report["phases"]["stall"] == pytest.approx(8.0)


def gradients(torch: Any, bench: Bench | None, **watch: Any) -> list[Any]:
    from torch.nn.parallel import DistributedDataParallel

    torch.manual_seed(0)
    model = DistributedDataParallel(torch.nn.Sequential(torch.nn.Linear(8, 64), torch.nn.Linear(64, 1)))
    if bench is not None:
        assert bench.rec.watch_ddp(model, **watch) is model
    for micro_batch in range(3):
        model(torch.full((4, 8), float(micro_batch))).square().sum().backward()
    return [parameter.grad for parameter in model.parameters()]


def test_the_hook_changes_no_gradient(torch: Any, group: Any, bench: Bench) -> None:
    for ours, plain in zip(gradients(torch, bench), gradients(torch, None), strict=True):
        assert torch.equal(ours, plain)
    report = bench.report()
    assert report["collective_bytes"] == 0.0, "one rank alone moves nothing on a bus"
    assert report["collective_seconds"] == 0.0, "and this clock stands still"


def test_a_hook_of_the_script_is_called_as_before(torch: Any, group: Any, bench: Bench) -> None:
    seen: list[object] = []

    def hook(state: Any, bucket: Any) -> Any:
        seen.append(state)
        bench.clock.turn(1.0)
        future: Any = torch.futures.Future()
        future.set_result(bucket.buffer())
        return future

    gradients(torch, bench, hook=hook, state="mine")
    assert seen == ["mine"] * len(seen)
    assert len(seen) >= 3
    assert bench.report()["collective_seconds"] == pytest.approx(len(seen))


def test_a_hook_that_is_there_stays_and_that_is_said(
    torch: Any, group: Any, bench: Bench, caplog: pytest.LogCaptureFixture
) -> None:
    from torch.distributed.algorithms.ddp_comm_hooks.default_hooks import fp16_compress_hook
    from torch.nn.parallel import DistributedDataParallel

    model = DistributedDataParallel(torch.nn.Linear(8, 1))
    model.register_comm_hook(None, fp16_compress_hook)
    bench.rec.watch(model)
    (record,) = caplog.records
    assert "the model has a communication hook, which stays" in record.getMessage()
    model(torch.ones(4, 8)).sum().backward()
    assert "collective_seconds" not in bench.report()


@pytest.mark.parametrize("by_hand", [False, True])
def test_what_is_left_of_the_collectives_after_computing_is_exposed(
    torch: Any, group: Any, bench: Bench, by_hand: bool
) -> None:
    """Also inside a phase that the script has opened around its backward pass."""
    from torch.nn.parallel import DistributedDataParallel

    def hook(state: Any, bucket: Any) -> Any:
        future: Any = torch.futures.Future()
        buffer = bucket.buffer()

        def arrives() -> None:
            eventually("DDP waits", lambda: bench.rec._core.books.phase == COLLECTIVE or None, within=30, every=0.001)
            bench.clock.turn(3.0)
            future.set_result(buffer)

        threading.Thread(target=arrives, daemon=True).start()
        return future

    model = DistributedDataParallel(torch.nn.Linear(8, 1))
    bench.rec.watch_ddp(model, hook=hook)
    with bench.rec.step():
        loss = model(torch.ones(4, 8)).sum()
        with bench.rec.phase("backward") if by_hand else contextlib.nullcontext():
            loss.backward()
            bench.clock.turn(0.5)
        bench.clock.turn(0.25)
    phases = {name: spent for name, spent in bench.report()["phases"].items() if spent}
    after = {"backward": 0.5, "stall": 0.25} if by_hand else {"stall": 0.75}
    assert phases == pytest.approx({"collective": 3.0, **after})


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_the_queue_of_a_real_loader_is_seen_and_its_workers_are_silent(torch: Any, bench: Bench) -> None:
    class Recorded(torch.utils.data.Dataset):
        def __len__(self) -> int:
            return 12

        def __getitem__(self, index: int) -> Any:
            with bench.rec.step():  # as a careless script might
                bench.rec.log(loss=float(index))
            return torch.tensor(index)

    loader = bench.rec.wrap_loader(torch.utils.data.DataLoader(Recorded(), batch_size=2, num_workers=2))
    assert len(list(loader)) == 6
    report = bench.report()
    assert report["capacity_batches"] == 4.0
    assert 0.0 <= report["queue_batches"] <= 4.0
    assert report["steps"] == 6, "one per batch, and none of the workers'"
    assert "loss" not in report


def test_a_watched_model_can_be_copied_and_saved_without_its_hooks(torch: Any, bench: Bench, tmp_path: Path) -> None:
    model = bench.rec.watch(torch.nn.Linear(4, 4))
    torch.save(model, tmp_path / "model.pt")
    twins = [copy.deepcopy(model), torch.load(tmp_path / "model.pt", weights_only=False)]
    with bench.rec.step():
        for twin in twins:
            twin(torch.ones(2, 4)).sum().backward()
            bench.clock.turn(1.0)
    phases = {name: spent for name, spent in bench.report()["phases"].items() if spent}
    assert phases == pytest.approx({"stall": 2.0})


def test_a_pass_that_averages_nothing_waits_for_nothing(torch: Any, group: Any, bench: Bench) -> None:
    from torch.nn.parallel import DistributedDataParallel

    model = bench.rec.watch(DistributedDataParallel(torch.nn.Linear(8, 1)))
    with model.no_sync():
        model(torch.ones(4, 8)).sum().backward()
    assert "collective_seconds" not in bench.report()
    model(torch.ones(4, 8)).sum().backward()
    assert "collective_seconds" in bench.report()


@pytest.mark.filterwarnings("ignore")  # what the compiler warns of is none of ours
def test_a_compiled_model_is_seen(torch: Any, bench: Bench) -> None:
    inner = torch.nn.Linear(4, 4)
    model = bench.rec.watch(torch.compile(inner, backend="eager"))
    with bench.rec.step():
        output = model(torch.ones(2, 4))
        bench.clock.turn(1.0)
        output.register_hook(lambda gradient: bench.clock.turn(2.0))
        output.sum().backward()
    phases = {name: spent for name, spent in bench.report()["phases"].items() if spent}
    assert phases == pytest.approx({"forward": 1.0, "backward": 2.0})


def test_a_model_that_is_watched_twice_is_seen_once(
    torch: Any, group: Any, bench: Bench, caplog: pytest.LogCaptureFixture
) -> None:
    from torch.nn.parallel import DistributedDataParallel

    model = DistributedDataParallel(torch.nn.Linear(8, 1))
    hooks = [len(bench.rec.watch(model)._forward_pre_hooks) for _ in range(2)]
    assert hooks == [1, 1]
    assert not caplog.records


def test_the_examples_flops_are_those_that_torch_counts(torch: Any) -> None:
    from torch.utils.flop_counter import FlopCounterMode

    example = runpy.run_path(str(EXAMPLE))
    shape = {"width": 32, "layers": 2, "characters": 16}
    model = example["LanguageModel"](**shape)
    text = torch.zeros(3, 16, dtype=torch.long)
    with FlopCounterMode(display=False) as counter:
        model(text).sum().backward()
    assert counter.get_total_flops() == pytest.approx(text.numel() * example["flops_per_token"](**shape))
