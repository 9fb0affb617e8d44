"""What `watch` is given, told apart by what it can do: nothing of PyTorch is imported for it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from stepscope.recorder.core import Core
from stepscope.recorder.ddp import watch_ddp
from stepscope.recorder.loader import WatchedBatches, WatchedLoader
from stepscope.recorder.model import Backward, watch_model, watch_optimizer
from stepscope.recorder.settings import whole


def watch(core: Core, things: Sequence[Any], *, accumulate: int | None) -> Any:
    """Each thing watched, or what stands for it; a tuple unless it is one alone."""
    watched = tuple(_watched(core, thing, number, accumulate) for number, thing in enumerate(things, start=1))
    return watched[0] if len(watched) == 1 else watched


def wrap_loader(core: Core, loader: Iterable[Any], *, accumulate: int | None) -> WatchedLoader | WatchedBatches:
    """A loader, or an iterator, whose waits are seen."""
    if not hasattr(loader, "__iter__"):
        raise ValueError(f"loader: {type(loader).__name__} cannot be iterated")
    if accumulate is not None:
        core.marks.accumulate = whole("accumulate", accumulate, least=1)
    return WatchedBatches(loader, core) if hasattr(loader, "__next__") else WatchedLoader(loader, core)


def watch_parts(core: Core, model: Any, *, hook: Callable[[Any, Any], Any] | None = None, state: Any = None) -> None:
    """The passes of a model, and its collectives where it is a DistributedDataParallel."""
    torch = sys.modules.get("torch")
    if torch is None or not hasattr(model, "register_forward_pre_hook"):
        raise ValueError(f"model: {type(model).__name__} is not a torch.nn.Module")
    if model in core.watched:
        return
    core.watched.add(model)
    backward = Backward(core, torch)
    watch_model(model, core, backward, torch)
    if _is_ddp(model):
        watch_ddp(model, core, backward, hook=hook, state=state)
    elif hook is not None:
        raise ValueError(f"hook: {type(model).__name__} is not a DistributedDataParallel")


def _watched(core: Core, thing: Any, number: int, accumulate: int | None) -> Any:
    if hasattr(thing, "register_forward_pre_hook"):
        watch_parts(core, thing)
        return thing
    if hasattr(thing, "register_step_post_hook"):
        watch_optimizer(thing, core)
        return thing
    if hasattr(thing, "__iter__"):
        return wrap_loader(core, thing, accumulate=accumulate)
    raise ValueError(f"watch: argument {number} ({type(thing).__name__}) is no model, no optimizer and no loader")


def _is_ddp(model: Any) -> bool:
    return hasattr(model, "register_comm_hook") and hasattr(model, "process_group")
