"""The collectives of DistributedDataParallel, seen by its communication hook.

The hook is PyTorch's own all-reduce, or the script's, with a look at the clock before and after. Phase `collective` is
what is left of the collectives when the gradients are computed: there DDP waits for them, on the host under gloo, on
the stream under NCCL. `training_collective_seconds_total` is all of them, those under the backward pass included.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from stepscope.recorder.core import Core
from stepscope.recorder.model import Backward

CommHook = Callable[[Any, Any], Any]


class Averaging:
    """Averages gradients as `hook(state, bucket)` does, and times it."""

    def __init__(self, core: Core, backward: Backward, *, hook: CommHook, state: Any, ranks: int) -> None:
        self._core = core
        self._backward = backward
        self._hook = hook
        self._state = state
        self._on_bus = 2.0 * (ranks - 1) / ranks

    def reduce(self, bucket: Any) -> Any:
        """A future of the averaged bucket."""
        ends = self._begins(bucket)
        future = self._hook(self._state, bucket)

        def over(done: Any) -> Any:
            ends()
            return done.value()

        return future.then(over)

    def _begins(self, bucket: Any) -> Callable[[], None]:
        """What to call when the bucket is averaged."""
        busy, trouble = self._core.busy, self._core.trouble
        try:
            self._backward.begins()
            self._backward.reduces = True
            buffer = bucket.buffer()
            busy.moves(buffer.numel() * buffer.element_size() * self._on_bus)
            device = self._core.device
            if device is None or not buffer.is_cuda:
                busy.begins()
                return busy.ends
            first = device.recorded_event()
        except Exception as error:
            trouble.note("communication hook", error)
            return lambda: None

        def record() -> None:
            # Under NCCL this runs at once, on a stream that waits for the collective: so does the event.
            try:
                busy.device_span(first, device.recorded_event())
            except Exception as error:
                trouble.note("communication hook", error)

        return record


def watch_ddp(model: Any, core: Core, backward: Backward, *, hook: CommHook | None, state: Any) -> bool:
    """Register the hook; False, with a warning, where the script has registered one of its own."""
    if getattr(model, "_comm_hooks", None):
        core.trouble.note(
            "watch",
            "the model has a communication hook, which stays; collectives are not timed. "
            "Instead of registering it, give it to rec.watch_ddp(model, hook=…, state=…)",
        )
        return False
    group = model.process_group
    if hook is None:
        from torch.distributed.algorithms.ddp_comm_hooks.default_hooks import allreduce_hook

        hook, state = allreduce_hook, group
    averaging = Averaging(core, backward, hook=hook, state=state, ranks=group.size())
    try:
        # Without annotations: DDP compares them with its own types.
        model.register_comm_hook(None, lambda state, bucket: averaging.reduce(bucket))
    except Exception as error:
        core.trouble.note("registering the communication hook", error)
        return False
    return True
