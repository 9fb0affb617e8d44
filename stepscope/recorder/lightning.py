"""A callback for the Trainer of Lightning, under either of the names that it is installed by."""

from __future__ import annotations

import importlib
import sys
from typing import Any

from stepscope.recorder.books import BACKWARD, DATA_WAIT, FORWARD, STALL
from stepscope.recorder.core import Core
from stepscope.recorder.watching import watch_parts

_NAMES = ("lightning.pytorch", "pytorch_lightning")


def lightning_callback(core: Core) -> Any:
    """The callback. ValueError where Lightning is not installed."""
    base = _base()
    # Made here, as the Trainer wants a subclass of its own class.
    return type("StepRecorderCallback", (_Hooks, base), {})(core)


def _base() -> Any:
    for name in sorted(_NAMES, key=lambda name: name not in sys.modules):
        try:
            return importlib.import_module(name).Callback
        except ModuleNotFoundError:
            continue
    raise ValueError("lightning: not installed; pip install lightning")


class _Hooks:
    """What happens in training. A batch is on its device when `on_train_batch_start` is called."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._marks = core.marks
        self._updates = 0

    def on_train_start(self, trainer: Any, pl_module: Any) -> None:
        """Where DDP wraps the module, its collectives are timed."""
        self._updates = trainer.global_step
        self._marks.optimizer_watched = True
        try:
            model = trainer.strategy.model
            if hasattr(model, "register_comm_hook"):
                watch_parts(self._core, model)
        except Exception as error:
            self._core.trouble.note("Lightning's strategy", error)

    def on_train_epoch_start(self, trainer: Any, pl_module: Any) -> None:
        """The first batch is fetched next."""
        self._marks.batch_asked()

    def on_train_batch_start(self, trainer: Any, pl_module: Any, batch: Any, batch_idx: int) -> None:
        """The batch is there."""
        self._core.look_for_device()
        self._marks.batch_came()
        self._marks.beneath(FORWARD)

    def on_before_backward(self, trainer: Any, pl_module: Any, loss: Any) -> None:
        """The loss is known."""
        self._marks.beneath(BACKWARD)

    def on_after_backward(self, trainer: Any, pl_module: Any) -> None:
        """The gradients are."""
        self._marks.backward_ends()

    def on_before_optimizer_step(self, trainer: Any, pl_module: Any, optimizer: Any) -> None:
        """The update is next."""
        self._marks.optimizer_begins()

    def on_train_batch_end(self, trainer: Any, pl_module: Any, outputs: Any, batch: Any, batch_idx: int) -> None:
        """The step is over if it was the last of its micro-batches; what it came to is logged."""
        try:
            loss = outputs.get("loss") if isinstance(outputs, dict) else outputs
            rates = [optimizer.param_groups[0]["lr"] for optimizer in trainer.optimizers]
            self._core.log({"loss": loss, "learning_rate": rates[0] if rates else None})
            if trainer.global_step != self._updates:
                self._updates = trainer.global_step
                self._marks.optimizer_ends()
        except Exception as error:
            self._core.trouble.note("Lightning's on_train_batch_end", error)
        self._marks.batch_asked()

    def on_validation_start(self, trainer: Any, pl_module: Any) -> None:
        """Nothing is trained."""
        self._marks.beneath(STALL)

    def on_validation_end(self, trainer: Any, pl_module: Any) -> None:
        """Training goes on, where it was going on."""
        if trainer.training:
            self._marks.beneath(DATA_WAIT)

    def on_save_checkpoint(self, trainer: Any, pl_module: Any, checkpoint: Any) -> None:
        """One more checkpoint. The time of writing it is not known: it counts as what goes on around it."""
        self._marks.checkpoint_written()

    def on_train_end(self, trainer: Any, pl_module: Any) -> None:
        """Training is over."""
        self._marks.batches_over()

    def on_exception(self, trainer: Any, pl_module: Any, exception: BaseException) -> None:
        """Training is over."""
        self._marks.batches_over()
