"""The fake behind the real package: `libnvidia-ml.so` as ctypes sees it, for one board, answered by a `FakeNvml`.

What the package does with structs, pointers, versions and strings is then its own doing, not the fake's.
"""

from __future__ import annotations

import ctypes
import importlib.util
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any
from unittest.mock import patch

from tests.exporter.nvml.fake import Buffer, FakeNvml, MetricsGet, NVMLError

_SCALARS = (
    "nvmlDeviceGetPowerUsage", "nvmlDeviceGetTotalEnergyConsumption", "nvmlDeviceGetPcieReplayCounter",
    "nvmlDeviceGetCurrentClocksThrottleReasons", "nvmlDeviceGetCurrentClocksEventReasons",
    "nvmlDeviceGetGpuInstanceId", "nvmlDeviceGetMaxMigDeviceCount",
)  # fmt: skip
_SCALARS_OF = ("nvmlDeviceGetClockInfo", "nvmlDeviceGetTemperature", "nvmlDeviceGetPcieThroughput")
_PAIRS = ("nvmlDeviceGetEncoderUtilization", "nvmlDeviceGetDecoderUtilization", "nvmlDeviceGetMigMode")
_TEXTS = ("nvmlDeviceGetUUID", "nvmlDeviceGetName")


class Driver:
    """C functions by name; those in `without` an older driver does not have."""

    def __init__(self, fake: FakeNvml, *, without: tuple[str, ...] = ()) -> None:
        self._fake = fake
        self._without = without
        self._things: list[Any] = [None]

    def __getattr__(self, name: str) -> Callable[..., int]:
        if name.startswith("__") or name in self._without:
            raise AttributeError(name)
        work = self._work(name)

        def function(*arguments: Any) -> int:
            try:
                work(*arguments)
            except NVMLError as error:
                return error.value
            return 0

        return function

    def _keep(self, thing: Any, reference: Any) -> None:
        """Have the pointer behind `reference` stand for `thing`."""
        self._things.append(thing)
        address = ctypes.c_void_p(len(self._things) - 1)
        ctypes.memmove(ctypes.addressof(reference._obj), ctypes.addressof(address), ctypes.sizeof(address))

    def _of(self, pointer: Any) -> Any:
        return self._things[ctypes.cast(pointer, ctypes.c_void_p).value or 0]

    def _work(self, name: str) -> Callable[..., None]:
        own = getattr(type(self), f"_{name}", None)
        if own is not None:
            return lambda *arguments: own(self, *arguments)
        if name in _TEXTS:
            return lambda handle, out, size: self._text(getattr(self._fake, name)(self._of(handle)), out)
        if name in _SCALARS:
            return lambda handle, out: setattr(out._obj, "value", getattr(self._fake, name)(self._of(handle)))
        if name in _SCALARS_OF:
            return lambda handle, kind, out: setattr(
                out._obj, "value", getattr(self._fake, name)(self._of(handle), kind.value)
            )
        if name in _PAIRS:
            return lambda handle, *outs: self._fill(outs, getattr(self._fake, name)(self._of(handle)))
        raise AttributeError(name)

    @staticmethod
    def _fill(outs: Any, values: Any) -> None:
        for out, value in zip(outs, values, strict=True):
            out._obj.value = value

    @staticmethod
    def _text(text: str, out: Any) -> None:
        out.value = text.encode()

    def _nvmlInitWithFlags(self, flags: int) -> None:
        self._fake.nvmlInit()

    def _nvmlShutdown(self) -> None:
        self._fake.nvmlShutdown()

    def _nvmlSystemGetDriverVersion(self, out: Any, size: Any) -> None:
        self._text(self._fake.nvmlSystemGetDriverVersion(), out)

    def _nvmlDeviceGetCount_v2(self, out: Any) -> None:
        out._obj.value = self._fake.nvmlDeviceGetCount()

    def _nvmlDeviceGetHandleByIndex_v2(self, index: Any, out: Any) -> None:
        self._keep(self._fake.nvmlDeviceGetHandleByIndex(index.value), out)

    def _nvmlDeviceGetMigDeviceHandleByIndex(self, handle: Any, index: Any, out: Any) -> None:
        self._keep(self._fake.nvmlDeviceGetMigDeviceHandleByIndex(self._of(handle), index.value), out)

    def _nvmlDeviceGetPciInfo_v3(self, handle: Any, out: Any) -> None:
        out._obj.busId = self._fake.nvmlDeviceGetPciInfo(self._of(handle)).busId.encode()

    def _nvmlDeviceGetMemoryInfo(self, handle: Any, out: Any) -> None:
        memory = self._fake.nvmlDeviceGetMemoryInfo(self._of(handle))
        out._obj.total, out._obj.free, out._obj.used = memory.total, memory.free, memory.used

    def _nvmlDeviceGetMemoryInfo_v2(self, handle: Any, out: Any) -> None:
        # The version carries the size of the struct that the caller has.
        assert out._obj.version == ctypes.sizeof(out._obj) | 2 << 24
        memory = self._fake.nvmlDeviceGetMemoryInfo(self._of(handle), version=out._obj.version)
        for name in ("total", "reserved", "free", "used"):
            setattr(out._obj, name, getattr(memory, name))

    def _nvmlDeviceGetTemperatureV(self, handle: Any, out: Any) -> None:
        out._obj.temperature = self._fake.nvmlDeviceGetTemperatureV(self._of(handle), out._obj.sensorType)

    def _nvmlDeviceGetUtilizationRates(self, handle: Any, out: Any) -> None:
        rates = self._fake.nvmlDeviceGetUtilizationRates(self._of(handle))
        out._obj.gpu, out._obj.memory = rates.gpu, rates.memory

    def _nvmlDeviceGetRemappedRows(self, handle: Any, *outs: Any) -> None:
        self._fill(outs, self._fake.nvmlDeviceGetRemappedRows(self._of(handle)))  # type: ignore[attr-defined]

    def _nvmlDeviceGetViolationStatus(self, handle: Any, policy: Any, out: Any) -> None:
        status = self._fake.nvmlDeviceGetViolationStatus(self._of(handle), policy.value)
        out._obj.violationTime = status.violationTime

    def _nvmlDeviceGetFieldValues(self, handle: Any, count: Any, out: Any) -> None:
        for value in out._obj[: count.value]:
            number = value.fieldId if value.scopeId == 0 else (value.fieldId, value.scopeId)
            (found,) = self._fake.nvmlDeviceGetFieldValues(self._of(handle), [number])
            value.valueType, value.nvmlReturn = found.valueType, found.nvmlReturn
            value.value.ullVal = getattr(found.value, "ullVal", 0)

    def _nvmlEventSetCreate(self, out: Any) -> None:
        self._keep(self._fake.nvmlEventSetCreate(), out)

    def _nvmlDeviceRegisterEvents(self, handle: Any, kinds: Any, events: Any) -> None:
        self._fake.nvmlDeviceRegisterEvents(self._of(handle), kinds.value, self._of(events))

    def _nvmlEventSetWait_v2(self, events: Any, out: Any, milliseconds: Any) -> None:
        event = self._fake.nvmlEventSetWait_v2(self._of(events), milliseconds.value)
        out._obj.eventType, out._obj.eventData = event.eventType, event.eventData

    def _nvmlEventSetFree(self, events: Any) -> None:
        self._fake.nvmlEventSetFree(self._of(events))

    def _nvmlGpmQueryDeviceSupport(self, handle: Any, out: Any) -> None:
        out._obj.isSupportedDevice = self._fake.nvmlGpmQueryDeviceSupport(self._of(handle)).isSupportedDevice

    def _nvmlGpmSampleAlloc(self, out: Any) -> None:
        self._keep(self._fake.nvmlGpmSampleAlloc(), out)

    def _nvmlGpmSampleFree(self, buffer: Any) -> None:
        self._fake.nvmlGpmSampleFree(self._of(buffer))

    def _nvmlGpmSampleGet(self, handle: Any, buffer: Any) -> None:
        self._fake.nvmlGpmSampleGet(self._of(handle), self._of(buffer))

    def _nvmlGpmMigSampleGet(self, handle: Any, instance: int, buffer: Any) -> None:
        self._fake.nvmlGpmMigSampleGet(self._of(handle), instance, self._of(buffer))

    def _nvmlGpmMetricsGet(self, out: Any) -> None:
        theirs, ours = out._obj, MetricsGet()
        ours.version, ours.numMetrics = theirs.version, theirs.numMetrics
        ours.sample1, ours.sample2 = self._of(theirs.sample1), self._of(theirs.sample2)
        assert isinstance(ours.sample1, Buffer)
        for mine, metric in zip(ours.metrics, theirs.metrics, strict=False):
            mine.metricId = metric.metricId
        self._fake.nvmlGpmMetricsGet(ours)
        for mine, metric in list(zip(ours.metrics, theirs.metrics, strict=False))[: ours.numMetrics]:
            metric.nvmlReturn, metric.value = mine.nvmlReturn, mine.value


def bound(fake: FakeNvml, *, without: tuple[str, ...] = ()) -> Any:
    """A copy of the installed package, of its own, on a driver that answers from `fake`."""
    spec = importlib.util.find_spec("pynvml")
    assert spec is not None
    assert spec.loader is not None
    module: ModuleType = importlib.util.module_from_spec(spec)
    with patch.dict(sys.modules, {"pynvml": module}):  # it looks itself up there to add to itself
        spec.loader.exec_module(module)
    module.nvmlLib = Driver(fake, without=without)  # type: ignore[attr-defined]
    return module
