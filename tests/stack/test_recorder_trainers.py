"""The callbacks in the real Trainers, on a clock that only the parts of the job turn."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.recorder.parts import Bench, recording
from tests.stack.real import lacking
from tests.stack.real_job import need_torch

# What these packages warn of among themselves is none of ours.
pytestmark = [pytest.mark.stack, pytest.mark.filterwarnings("ignore")]

FORWARD, BACKWARD, LOAD, EVALUATE = 1.0, 2.0, 0.25, 8.0


@pytest.fixture
def torch() -> Any:
    need_torch()
    import torch

    return torch


@pytest.fixture
def bench(tmp_path: Path, torch: Any) -> Iterator[Bench]:
    with recording(tmp_path, tokens_per_step=10) as made:
        yield made


def need(package: str) -> None:
    if importlib.util.find_spec(package) is None:
        lacking(f"{package} is not installed: pip install 'stepscope[job]'")


def slow(torch: Any, bench: Bench) -> Any:
    """A function of a tensor that takes its time, forward and backward."""

    class Slow(torch.autograd.Function):
        @staticmethod
        def forward(context: Any, x: Any) -> Any:
            bench.clock.turn(FORWARD)
            return x.clone()

        @staticmethod
        def backward(context: Any, gradient: Any) -> Any:
            bench.clock.turn(BACKWARD)
            return gradient

    return Slow.apply


def data(torch: Any, bench: Bench, count: int, *, seconds: float) -> Any:
    class Items(torch.utils.data.Dataset):
        def __len__(self) -> int:
            return count

        def __getitem__(self, index: int) -> Any:
            bench.clock.turn(seconds)
            return {"x": torch.ones(4)}

    return Items()


def test_the_trainer_of_transformers(torch: Any, bench: Bench, tmp_path: Path) -> None:
    need("transformers")
    from transformers import Trainer, TrainingArguments

    work = slow(torch, bench)

    class Model(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = torch.nn.Linear(4, 1)

        def forward(self, x: Any) -> Any:
            return {"loss": work(self.inner(x)).square().mean()}

    arguments = TrainingArguments(
        output_dir=str(tmp_path / "out"), max_steps=6, per_device_train_batch_size=2, gradient_accumulation_steps=2,
        logging_steps=1, save_steps=3, eval_strategy="steps", eval_steps=2, prediction_loss_only=True, report_to=[],
        use_cpu=True, disable_tqdm=True, per_device_eval_batch_size=2, remove_unused_columns=False,
    )  # fmt: skip
    trainer = Trainer(
        model=Model(), args=arguments, train_dataset=data(torch, bench, 24, seconds=LOAD),
        eval_dataset=data(torch, bench, 2, seconds=EVALUATE),
    )  # fmt: skip
    trainer.add_callback(bench.rec.huggingface(trainer))
    trainer.train()
    report = bench.report()
    assert (report["steps"], report["tokens"]) == (6, 60)
    assert report["phases"]["forward"] == pytest.approx(12 * FORWARD)
    assert report["phases"]["backward"] == pytest.approx(12 * BACKWARD)
    assert report["phases"]["data_wait"] == pytest.approx(24 * LOAD)
    assert report["phases"]["stall"] == pytest.approx(3 * (2 * EVALUATE + FORWARD)), "evaluation"
    assert report["step_seconds"]["sum"] == pytest.approx(12 * (FORWARD + BACKWARD) + 24 * LOAD)
    assert report["checkpoints"] == len(list((tmp_path / "out").glob("checkpoint-*")))
    logged = [entry for entry in trainer.state.log_history if "loss" in entry][-1]
    names = ("loss", "grad_norm", "learning_rate")
    assert [report[name] for name in names] == pytest.approx([logged[name] for name in names])


def test_the_trainer_of_lightning(torch: Any, bench: Bench, tmp_path: Path) -> None:
    need("lightning")
    import lightning

    work = slow(torch, bench)

    class Module(lightning.LightningModule):
        def __init__(self) -> None:
            super().__init__()
            self.inner = torch.nn.Linear(4, 1)

        def training_step(self, batch: Any, index: int) -> Any:
            return work(self.inner(batch["x"])).square().mean()

        def validation_step(self, batch: Any, index: int) -> None:
            work(self.inner(batch["x"]))

        def configure_optimizers(self) -> Any:
            return torch.optim.SGD(self.parameters(), lr=0.125)

    trainer = lightning.Trainer(
        max_epochs=2, accumulate_grad_batches=2, accelerator="cpu", logger=False, enable_progress_bar=False,
        default_root_dir=tmp_path, num_sanity_val_steps=0, callbacks=[bench.rec.lightning()],
        enable_model_summary=False,
    )  # fmt: skip
    loaders = (
        torch.utils.data.DataLoader(data(torch, bench, count, seconds=seconds), batch_size=2)
        for count, seconds in ((8, LOAD), (2, EVALUATE))
    )
    trainer.fit(Module(), *loaders)
    report = bench.report()
    assert (report["steps"], report["tokens"]) == (4, 40), "two micro-batches are a step"
    assert report["phases"]["forward"] == pytest.approx(8 * FORWARD)
    assert report["phases"]["backward"] == pytest.approx(8 * BACKWARD)
    assert report["phases"]["data_wait"] == pytest.approx(16 * LOAD)
    assert report["phases"]["stall"] == pytest.approx(2 * (2 * EVALUATE + FORWARD)), "validation"
    assert report["checkpoints"] >= 1
    assert report["learning_rate"] == 0.125
    assert report["loss"] > 0
