"""What the script logs of its model. A value on a device is read when it has arrived, never by waiting for it."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Mapping
from typing import Any

from simulator.spikes import Spikes
from stepscope.recorder.trouble import Trouble

SHOWN = ("loss", "grad_norm", "learning_rate", "loss_scale")
"""Values of which the last is reported, in the order of the report."""
MAX_PENDING = 1024
"""Logged steps whose values are still on their way from the device."""


class _OnItsWay:
    """A copy of a device's scalar to the host that was started and not waited for."""

    def __init__(self, tensor: Any, cuda: Any) -> None:
        # Non-blocking copies to the host land in pinned memory.
        self._copy = tensor.detach().to("cpu", non_blocking=True)
        self._done = cuda.current_stream(tensor.device).record_event()

    def arrived(self) -> bool:
        return bool(self._done.query())

    def value(self) -> float:
        return float(self._copy)


class Learned:
    """Not safe for use by two threads at a time: its owner has a lock."""

    def __init__(self, trouble: Trouble) -> None:
        self.last: dict[str, float] = {}
        """By name, those of SHOWN that were logged."""
        self.nonfinite_steps = self.skipped_steps = self.grad_norm_spikes = 0
        self._trouble = trouble
        self._pending: deque[tuple[int, dict[str, float | _OnItsWay]]] = deque()
        self._spikes = Spikes()
        self._counted = {"nonfinite": -1, "skipped": -1, "spike": -1}

    def log(self, step: int, values: Mapping[str, object]) -> None:
        """Remember values of a step; None is a value that was not given."""
        read: dict[str, float | _OnItsWay] = {}
        for name, value in values.items():
            if value is not None:
                try:
                    read[name] = _read(value)
                except Exception as error:
                    self._trouble.note(f"log({name}=…)", error)
        if not self._pending and not any(isinstance(value, _OnItsWay) for value in read.values()):
            self._apply(step, read)
        elif len(self._pending) < MAX_PENDING:
            self._pending.append((step, read))

    def settle(self) -> bool:
        """Apply what has arrived, in the order in which it was logged; True when nothing is left."""
        while self._pending:
            step, values = self._pending[0]
            try:
                if not all(value.arrived() for value in values.values() if isinstance(value, _OnItsWay)):
                    return False
                self._pending.popleft()
                self._apply(step, values)
            except Exception as error:
                self._trouble.note("logged values", error)
                self._pending.clear()
        return True

    def _apply(self, step: int, read: Mapping[str, float | _OnItsWay]) -> None:
        values = {name: value.value() if isinstance(value, _OnItsWay) else value for name, value in read.items()}
        self.last.update((name, values[name]) for name in SHOWN if name in values)
        judged = [values[name] for name in ("loss", "grad_norm") if name in values]
        if not all(map(math.isfinite, judged)) and self._first("nonfinite", step):
            self.nonfinite_steps += 1
        if values.get("skipped") and self._first("skipped", step):
            self.skipped_steps += 1
        if "grad_norm" in values and self._spikes.is_spike(values["grad_norm"]) and self._first("spike", step):
            self.grad_norm_spikes += 1

    def _first(self, what: str, step: int) -> bool:
        """Whether this step has not been counted yet, however often it is logged."""
        if self._counted[what] == step:
            return False
        self._counted[what] = step
        return True


def _read(value: Any) -> float | _OnItsWay:
    if getattr(value, "is_cuda", False):
        if hasattr(value, "full_tensor"):
            raise ValueError("a sharded tensor; log value.full_tensor()")
        if value.numel() != 1:
            raise ValueError("not a single number")
        import sys

        return _OnItsWay(value, sys.modules["torch"].cuda)
    if isinstance(value, str):
        raise ValueError("text is not a number")
    return float(value.item() if hasattr(value, "item") else value)
