"""A callback for the Trainer of Hugging Face's transformers. Nothing of it is imported: the Trainer only calls.

Its step is the Trainer's: from the first micro-batch to the update, with the wait for its batches. What the Trainer
does between steps is seen by what it is about to do: evaluating is `stall`, saving `checkpoint`, all else `data_wait`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from stepscope.recorder.books import CHECKPOINT, STALL
from stepscope.recorder.core import Core
from stepscope.recorder.model import watch_optimizer
from stepscope.recorder.watching import watch_parts

_LOGGED = {"loss": "loss", "grad_norm": "grad_norm", "learning_rate": "learning_rate"}


class HuggingFaceCallback:
    """Has every event that a TrainerCallback has, and those that later versions add."""

    def __init__(self, core: Core, trainer: Any) -> None:
        self._core = core
        self._marks = core.marks
        self._trainer = trainer
        self._events: dict[str, Callable[..., None]] = {
            "on_train_begin": self._begins,
            "on_epoch_begin": self._waits,
            "on_step_begin": self._has_batch,
            "on_step_end": self._step_ends,
            "on_evaluate": self._evaluated,
            "on_save": self._saved,
            "on_log": self._logs,
            "on_train_end": self._ends,
        }

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("on_"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        event = self._events.get(name)

        def called(args: Any, state: Any, control: Any, **more: Any) -> None:
            if event is not None:
                try:
                    event(control, more)
                except Exception as error:
                    self._core.trouble.note(f"the Trainer's {name}", error)

        return called

    def _begins(self, control: Any, more: dict[str, Any]) -> None:
        self._core.look_for_device()
        self._marks.accumulate = 1  # a step of the Trainer is one, whatever it is made of
        model = getattr(self._trainer, "model_wrapped", None) or more.get("model")
        if model is not None:
            watch_parts(self._core, model)
        optimizer = more.get("optimizer")
        optimizer = getattr(optimizer, "optimizer", optimizer)  # accelerate wraps it
        if hasattr(optimizer, "register_step_post_hook"):
            watch_optimizer(optimizer, self._core)

    def _waits(self, control: Any, more: dict[str, Any]) -> None:
        self._marks.batch_asked()

    def _has_batch(self, control: Any, more: dict[str, Any]) -> None:
        self._core.look_for_device()
        self._marks.batch_came()

    def _step_ends(self, control: Any, more: dict[str, Any]) -> None:
        self._marks.batch_asked()
        if control.should_evaluate:
            self._marks.beneath(STALL)
        elif control.should_save:
            self._marks.beneath(CHECKPOINT)

    def _evaluated(self, control: Any, more: dict[str, Any]) -> None:
        if control.should_save:
            self._marks.beneath(CHECKPOINT)
        else:
            self._marks.batch_asked()

    def _saved(self, control: Any, more: dict[str, Any]) -> None:
        self._marks.checkpoint_written()
        self._marks.batch_asked()

    def _logs(self, control: Any, more: dict[str, Any]) -> None:
        logs = more.get("logs") or {}
        if "loss" in logs:
            self._core.log({name: logs[said] for said, name in _LOGGED.items() if said in logs})

    def _ends(self, control: Any, more: dict[str, Any]) -> None:
        self._marks.batches_over()
