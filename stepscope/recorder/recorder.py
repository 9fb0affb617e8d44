"""The recorder that a training script holds."""

from __future__ import annotations

import atexit
import os
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import Any, TypeVar, cast

from exporter.sources.job.wire import socket_paths
from stepscope.recorder.books import CHECKPOINT, RECORDED
from stepscope.recorder.core import Core, Ways
from stepscope.recorder.huggingface import HuggingFaceCallback
from stepscope.recorder.lightning import lightning_callback
from stepscope.recorder.marks import Phase, Step
from stepscope.recorder.settings import checked_path, checked_settings, whole
from stepscope.recorder.watching import watch, watch_parts, wrap_loader

T = TypeVar("T")


class StepRecorder:
    """Where the time of this rank goes, step by step, for `stepscope export` on the same node.

    ```python
    rec = StepRecorder(run="llm-7", params=1.2e9, precision="bf16", tokens_per_step=global_batch * sequence_length)
    model, loader, optimizer = rec.watch(model, loader, optimizer)
    for batch in loader:            # the loop as it was
        ...
        rec.log(loss=loss)          # where it is to be seen whether the model learns
    ```

    or by hand, with or without `watch` for a part of it:

    ```python
    with rec.step():
        with rec.phase("data_wait"):
            batch = next(batches)
        ...
        rec.log(loss=loss, grad_norm=norm, lr=scheduler.get_last_lr()[0])
    ```

    The phases of a rank add up to its wall clock from here on. What no phase claims is `stall`: between steps, where
    the job does not train, and inside a step, where it does something that nobody named. A thread of its own reports
    the totals once a second through a local socket. Without a listener nothing is sent, which the log says once on each
    node; a lost report loses nothing.
    Under CUDA, phases are timed by events that are read back later: nothing here waits for the device.

    A mistake in the script (an unknown phase, one opened inside another) is a ValueError the first time that it runs.
    What goes wrong at run time is said once in the log `stepscope.recorder`; it never reaches the training loop.
    Make one per rank, in the process that trains. In a child of fork(), a worker of a DataLoader, it is silent.
    """

    def __init__(
        self,
        *,
        run: str,
        model: str | None = None,
        tokens_per_step: int,
        flops_per_token: float | None = None,
        params: float | None = None,
        rank: int | None = None,
        world_size: int | None = None,
        local_rank: int | None = None,
        samples_per_step: int | None = None,
        precision: str | None = None,
        strategy: str | None = None,
        flops_convention: str | None = None,
        peak_flops_per_second: float | None = None,
        cuda_events: bool | None = None,
        socket: str | os.PathLike[str] | None = None,
        ways: Ways | None = None,
    ) -> None:
        """ValueError names what is wrong.

        `tokens_per_step` and `samples_per_step` are of the whole job. Give `flops_per_token` (forward and backward, all
        layers) or `params`, from which it is taken as 6 per parameter. `rank`, `world_size` and `local_rank` are by
        default those of the launcher: RANK, WORLD_SIZE, LOCAL_RANK. `peak_flops_per_second` is the dense peak of this
        rank's device; the exporter knows that of many GPUs by `precision` (fp16, bf16, fp8). Without either there is no
        MFU, which the exporter says in its log. `cuda_events=False` times by the host under
        CUDA too, for a job that captures whole steps as CUDA graphs. `socket` is where the exporter listens, by default
        STEPSCOPE_SOCKET or the system's. `ways` replaces the clocks, for tests.
        """
        settings = checked_settings(
            os.environ,
            run=run,
            model=model,
            tokens_per_step=tokens_per_step,
            samples_per_step=samples_per_step,
            flops_per_token=flops_per_token,
            params=params,
            flops_convention=flops_convention,
            precision=precision,
            strategy=strategy,
            peak_flops_per_second=peak_flops_per_second,
            rank=rank,
            world_size=world_size,
            local_rank=local_rank,
        )
        paths = socket_paths() if socket is None else (checked_path("socket", socket),)
        self._core = Core(settings, paths, ways or Ways(), device=cuda_events)
        self._marks = self._core.marks
        self._phases = self._marks.phases
        atexit.register(self.close)

    def step(self, *, tokens: int | None = None, samples: int | None = None) -> Step:
        """`with` it: one training step, counted unless the block raises.

        The wait for its batch just before belongs to it. `tokens` and `samples` of the whole job, where they differ
        from step to step.
        """
        self._core.look_for_device()
        return Step(
            self._marks,
            None if tokens is None else whole("tokens", tokens),
            None if samples is None else whole("samples", samples),
        )

    def phase(self, name: str) -> Phase:
        """`with` it: the rank is in this phase. One at a time, inside a step or between steps; ValueError otherwise.

        data_wait, h2d, forward, backward, collective (waiting in it included), optimizer, checkpoint, stall.
        """
        try:
            return self._phases[name]
        except (KeyError, TypeError):
            raise ValueError(f"phase: {name!r} is not one of {', '.join(RECORDED)}") from None

    def checkpoint(self) -> Phase:
        """`with` it: the phase `checkpoint`. A checkpoint is counted when the block ends without raising."""
        return self._phases[RECORDED[CHECKPOINT]]

    def log(
        self,
        *,
        loss: Any = None,
        grad_norm: Any = None,
        lr: Any = None,
        loss_scale: Any = None,
        skipped: Any = None,
    ) -> None:
        """What the model learned in this step; in a step or right after it, from one rank or from all.

        Numbers or tensors of one element. One on a CUDA device is copied and read once it is there, without waiting.
        `grad_norm` is the norm before clipping; `skipped` says that the optimizer did not step (FP16 overflow).
        """
        self._core.log(
            {"loss": loss, "grad_norm": grad_norm, "learning_rate": lr, "loss_scale": loss_scale, "skipped": skipped}
        )

    def watch(self, *things: Any, accumulate: int | None = None) -> Any:
        """See phases and steps in the parts of a usual loop; returns them in the same order, one alone as itself.

        A model: `forward` and `backward`. A DistributedDataParallel: `collective` too, as `watch_ddp`. An optimizer:
        `optimizer`. Anything that is iterated: `data_wait`, as `wrap_loader`; go on with what is returned in its place.
        ValueError for what is none of these. Compile a model before it is watched.
        """
        return watch(self._core, things, accumulate=accumulate)

    def wrap_loader(self, loader: Iterable[T], *, accumulate: int | None = None) -> Iterable[T]:
        """The loader, with its waits seen as `data_wait` and its queue reported.

        Where the script opens no `step`, the loader counts them: a step lasts from asking for a batch to asking for the
        next one after a watched optimizer has stepped, or after `accumulate` batches where that is given (give it when
        a gradient scaler may leave updates out), or after each batch where no optimizer is watched.
        """
        return cast("Iterable[T]", wrap_loader(self._core, loader, accumulate=accumulate))

    def watch_ddp(self, model: T, *, hook: Callable[[Any, Any], Any] | None = None, state: Any = None) -> T:
        """A DistributedDataParallel, with its all-reduces timed by its communication hook; returns it.

        A model has one such hook. One that is registered already is left alone, with a warning; give it here instead,
        `hook` and its `state`, and it is called as before. Works with gloo and NCCL, before the first backward pass.
        """
        watch_parts(self._core, model, hook=hook, state=state)
        return model

    def huggingface(self, trainer: Any = None) -> Any:
        """A callback for the Trainer of transformers: steps, phases, checkpoints, and what the Trainer logs.

        Give it the trainer too, `trainer.add_callback(rec.huggingface(trainer))`, to have its collectives under DDP.
        """
        return HuggingFaceCallback(self._core, trainer)

    def lightning(self) -> Any:
        """A callback for the Trainer of Lightning: steps, phases, collectives under DDP, checkpoints, loss and rate.

        ValueError where Lightning is not installed.
        """
        return lightning_callback(self._core)

    def queue(self, batches: float, capacity: float) -> None:
        """Batches ready in the loader's queue and how many it holds, where `watch` cannot see it.

        An infinite capacity, or what is no number from 0, is not reported.
        """
        try:
            self._core.queue = (float(batches), float(capacity))
        except Exception as error:
            self._core.trouble.note("queue(…)", error)

    def close(self) -> None:
        """Send the last report and stop. Happens by itself at exit; harmless twice."""
        atexit.unregister(self.close)
        self._core.close()

    def __enter__(self: T) -> T:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()
