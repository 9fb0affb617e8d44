"""Forward, backward and the update, seen by hooks on the model's root and on the optimizer.

`forward` lasts from the call of the model to the beginning of the backward pass, so it includes the loss. `backward`
ends when the gradients are there; what is done with them before the update, clipping for one, belongs to `optimizer`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext
from typing import Any

from stepscope.recorder.books import BACKWARD, FORWARD
from stepscope.recorder.core import Core

_DEEPEST = 3
_MOST = 64


class Hook:
    """A hook that changes nothing, never raises, and is left behind when its model is copied or pickled."""

    __slots__ = ("_core", "_sees")

    def __init__(self, sees: Callable[..., None], core: Core) -> None:
        self._sees = sees
        self._core = core

    def __call__(self, *told: Any) -> None:
        try:
            self._sees(*told)
        except Exception as error:
            self._core.trouble.note("hook", error)

    def __reduce__(self) -> tuple[Any, ...]:
        # Something that takes anything and does nothing, also where stepscope is not installed.
        return getattr, (nullcontext(), "__exit__")


class Backward:
    """Follows one backward pass after another."""

    def __init__(self, core: Core, torch: Any) -> None:
        self._core = core
        self._engine = torch.autograd.Variable._execution_engine
        self._following = False
        self.reduces = False
        """Whether this pass averages gradients over the ranks."""

    def begins(self) -> None:
        """The pass has begun; called inside it, once or more often."""
        if self._following or self._core.marks.closed:
            return
        self._following = True
        self._core.marks.beneath(BACKWARD)
        # What is queued inside a pass runs when its last gradient is there, in the order in which it was queued.
        self._engine.queue_callback(self._computed)

    def forget(self) -> None:
        """A pass that failed never says that it is over."""
        self._following = self.reduces = False

    def _computed(self) -> None:
        """All gradients are computed. DDP waits for its collectives in a callback that is queued by now."""
        try:
            if self.reduces:
                self._core.marks.collective_begins()
                self._engine.queue_callback(self._over)
            else:
                self._over()
        except Exception as error:
            self._core.trouble.note("end of the backward pass", error)

    def _over(self) -> None:
        self.forget()
        self._core.marks.backward_ends()


def watch_model(model: Any, core: Core, backward: Backward, torch: Any) -> None:
    """Hooks on the root of a model. Evaluation, where no gradient is kept, is not a forward pass of training."""

    def before(*_: Any) -> None:
        if torch.is_grad_enabled():
            backward.forget()
            core.marks.beneath(FORWARD)

    def after(module: Any, inputs: Any, output: Any) -> None:
        if torch.is_grad_enabled():
            for tensor in _tensors(output, torch):
                if tensor.requires_grad:
                    tensor.register_hook(begins)

    begins = Hook(lambda gradient: backward.begins(), core)
    model.register_forward_pre_hook(Hook(before, core))
    model.register_forward_hook(Hook(after, core))
    core.marks.model_watched = True


def watch_optimizer(optimizer: Any, core: Core) -> None:
    """Hooks on the steps of an optimizer."""
    if optimizer in core.watched:
        return
    core.watched.add(optimizer)
    marks = core.marks
    optimizer.register_step_pre_hook(Hook(lambda *_: marks.optimizer_begins(), core))
    optimizer.register_step_post_hook(Hook(lambda *_: marks.optimizer_ends(), core))
    marks.optimizer_watched = True


def _tensors(output: Any, torch: Any, depth: int = 0) -> Iterator[Any]:
    """The tensors in what a model returned, as far as it is made of common things."""
    if isinstance(output, torch.Tensor):
        yield output
    elif depth < _DEEPEST:
        parts = output.values() if isinstance(output, Mapping) else output if isinstance(output, (tuple, list)) else ()
        for part in list(parts)[:_MOST]:
            yield from _tensors(part, torch, depth + 1)
