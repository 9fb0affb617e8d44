"""What the recorder uses of torch, on a device whose time the test knows. There was no GPU to compare it with."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from tests.recorder.parts import Clock


class FakeCuda:
    """`torch.cuda` with one stream: work is queued at once and done in order, each piece in its time."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.idle_at = clock.now
        self.events = 0
        self.fails = False
        self.Event = self._event

    def launch(self, seconds: float) -> None:
        """Queue work, without waiting for it."""
        self.idle_at = max(self.idle_at, self.clock.now) + seconds

    def is_initialized(self) -> bool:
        return True

    def current_device(self) -> int:
        return 1

    def get_device_properties(self, index: int) -> Any:
        return SimpleNamespace(name="NVIDIA H100 80GB HBM3", uuid="8f0e-index-" + str(index))

    def current_stream(self, device: Any = None) -> Any:
        return SimpleNamespace(record_event=lambda: self._recorded())

    def synchronize(self) -> None:
        pytest.fail("the recorder waited for the device")

    def _event(self, *, enable_timing: bool = False) -> FakeEvent:
        self.events += 1
        return FakeEvent(self)

    def _recorded(self) -> FakeEvent:
        event = self._event()
        event.record()
        return event


class FakeEvent:
    """A place in the stream."""

    def __init__(self, cuda: FakeCuda) -> None:
        self._cuda = cuda
        self.at: float | None = None

    def record(self) -> None:
        if self._cuda.fails:
            raise RuntimeError("CUDA error: an illegal memory access was encountered")
        self.at = max(self._cuda.idle_at, self._cuda.clock.now)

    def query(self) -> bool:
        if self._cuda.fails:
            raise RuntimeError("CUDA error: an illegal memory access was encountered")
        assert self.at is not None, "an event that was never recorded"
        return self._cuda.clock.now >= self.at

    def elapsed_time(self, other: FakeEvent) -> float:
        """Milliseconds; as CUDA does, an error before both are reached."""
        assert self.query(), "an event was read before the device reached it"
        assert other.query(), "an event was read before the device reached it"
        assert self.at is not None
        assert other.at is not None
        return (other.at - self.at) * 1e3

    def synchronize(self) -> None:
        pytest.fail("the recorder waited for the device")


class FakeTensor:
    """A number on the device, there when the work before it is done."""

    is_cuda = True
    device = "cuda:1"

    def __init__(self, value: float, *, numel: int = 1) -> None:
        self._value = value
        self._numel = numel

    def numel(self) -> int:
        return self._numel

    def detach(self) -> FakeTensor:
        return self

    def to(self, device: str, *, non_blocking: bool) -> float:
        assert (device, non_blocking) == ("cpu", True)
        return self._value

    def item(self) -> float:
        pytest.fail("the recorder waited for the device")
