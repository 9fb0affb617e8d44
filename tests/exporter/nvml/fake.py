"""An NVML that does what a test wants: a stand-in for the module `pynvml`, scriptable per board, call and time.

A scenario is plain data: what boards there are and what each reads, which of its calls raise which code, and what
happens to the driver when. A value that a board lacks is one that it does not support. It keeps the promises of the
real one that others have broken their teeth on: handles die with their session, buffers belong to a thread, inits and
shutdowns are counted, exceptions can be neither hashed nor compared with a number.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, MutableMapping
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from tests.exporter.nvml.constants import CONSTANTS, GPM_METRICS

SCENARIO_VARIABLE = "STEPSCOPE_FAKE_NVML"
"""Path of a scenario, for processes that import `tests/exporter/nvml/fakelib/pynvml.py`; two healthy boards without."""

Device = MutableMapping[str, Any]

_READINGS = {
    "nvmlDeviceGetUUID": "uuid",
    "nvmlDeviceGetPowerUsage": "power_mw",
    "nvmlDeviceGetTotalEnergyConsumption": "energy_mj",
    "nvmlDeviceGetPcieReplayCounter": "pcie_replays",
    "nvmlDeviceGetEncoderUtilization": "encoder",
    "nvmlDeviceGetDecoderUtilization": "decoder",
    "nvmlDeviceGetRemappedRows": "remapped_rows",
    "nvmlDeviceGetCurrentClocksEventReasons": "throttle_reasons",
    "nvmlDeviceGetGpuInstanceId": "id",
}
_CLOCKS = {1: "sm_mhz", 2: "mem_mhz"}
_POLICIES = {0: "power_violation_ns", 1: "thermal_violation_ns"}
_FIELDS = {82: "memory_temp_c", 138: "nvlink_tx_kib", 139: "nvlink_rx_kib"}


class NVMLError(Exception):
    """As the real one: `value` is the code, `==` looks at the other's `value`, and there is no hash."""

    def __init__(self, value: int) -> None:
        super().__init__(value)
        self.value = value

    def __str__(self) -> str:
        return f"NVML Error with code {self.value}"

    def __eq__(self, other: object) -> bool:
        return bool(self.value == other.value)  # type: ignore[attr-defined]


class Handle:
    """Of a board or MIG device."""

    def __init__(self, index: int, session: int, device: Device) -> None:
        self.index, self.session, self.device = index, session, device


class Buffer:
    """A GPM sample."""

    def __init__(self) -> None:
        self.thread = threading.get_ident()
        self.freed = False
        self.metrics: Mapping[str, float] | None = None
        self.time = 0.0


class MetricsGet:
    """`c_nvmlGpmMetricsGet_t`."""

    def __init__(self) -> None:
        self.version = self.numMetrics = 0
        self.sample1: Any = None
        self.sample2: Any = None
        self.metrics = [SimpleNamespace(metricId=0, nvmlReturn=999, value=0.0) for _ in range(16)]


def healthy(index: int = 0, **changes: Any) -> Device:
    """An H100 that has everything; `changes` replace what it reads, None takes it away."""
    device = {
        "index": index, "uuid": f"GPU-{index:08d}-aaaa-bbbb-cccc-{index:012d}", "name": "NVIDIA H100 80GB HBM3",
        "bus_id": f"00000000:{0x1A + index:02X}:00.0", "utilization": [97, 41], "temp_c": 58, "memory_temp_c": 66,
        "memory": [85520809984, 73354182656, 11665408000], "power_mw": 612345, "energy_mj": 129931554972,
        "sm_mhz": 1980, "mem_mhz": 2619, "pcie_kib_s": [488, 341], "pcie_replays": 0, "encoder": [0, 20_000],
        "decoder": [0, 20_000], "remapped_rows": [0, 0, 0, 0], "power_violation_ns": 7_000_000,
        "thermal_violation_ns": 0, "throttle_reasons": 0x4, "nvlink_tx_kib": 0, "nvlink_rx_kib": 0, "xids": [],
        "mig": False, "gpm": gpm(),
    }  # fmt: skip
    return {name: value for name, value in (device | changes).items() if value is not None}


def gpm(**changes: float) -> dict[str, float]:
    """What GPM reads, by the end of its metric's name: percent and MiB/s."""
    return {
        "GRAPHICS_UTIL": 97.5, "SM_UTIL": 61.25, "SM_OCCUPANCY": 30.0, "ANY_TENSOR_UTIL": 42.0, "DRAM_BW_UTIL": 35.5,
        "FP64_UTIL": 0.0, "FP32_UTIL": 6.0, "FP16_UTIL": 3.0, "PCIE_TX_PER_SEC": 100.0, "PCIE_RX_PER_SEC": 250.0,
        "NVLINK_TOTAL_TX_PER_SEC": 1000.0, "NVLINK_TOTAL_RX_PER_SEC": 2000.0, **changes,
    }  # fmt: skip


class FakeNvml:
    """The module. All its functions may be called from any thread."""

    NVMLError = NVMLError
    c_nvmlGpmMetricsGet_t = MetricsGet

    def __init__(
        self,
        *devices: Device,
        scenario: Mapping[str, Any] | None = None,
        clock: Callable[[], float] = time.monotonic,
        pause: Callable[[float], object] = time.sleep,
    ) -> None:
        """The boards, or a scenario: `devices`, `driver`, `sequence` (seconds from now), `blocks` (call and index)."""
        found = scenario or {}
        self.devices: list[Device] = [dict(device) for device in (*devices, *found.get("devices", ()))]
        self.driver = found.get("driver", "550.90.07")
        self.refused: dict[str, int] = {}
        """Code that a call raises for whichever board; `every call` is any."""
        self.delays: dict[tuple[str, int], float] = {}
        """Seconds that a call takes, by call and index."""
        self.calls: Counter[tuple[str, int]] = Counter()
        """How often each was made, by call and index; -1 for those without a board."""
        self.violations: list[str] = []
        """What was done to buffers that must not be."""
        self.initialised = 0
        """Inits less shutdowns."""
        self.buffers = 0
        self.event_sets = 0
        """Not yet given back."""
        self._clock, self._pause = clock, pause
        self._began = clock()
        self._sequence = list(found.get("sequence", ()))
        self._boards = self.devices
        self._session = 0
        self._blocked: dict[tuple[str, int], threading.Event] = {}
        self._lock = threading.Lock()
        for call, index in found.get("blocks", ()):
            self.block(call, index)
        for name, value in CONSTANTS.items():
            setattr(self, name, value)
        for call, reading in _READINGS.items():
            setattr(self, call, partial(self._reading, call, reading))

    @classmethod
    def from_environment(cls) -> FakeNvml:
        """The scenario that `SCENARIO_VARIABLE` names."""
        path = os.environ.get(SCENARIO_VARIABLE)
        if path is None:
            return cls(healthy(0), healthy(1))
        return cls(scenario=json.loads(Path(path).read_text(encoding="utf-8")))

    def block(self, call: str, index: int) -> None:
        """Have this call of this board never return, until `release`."""
        self._blocked[call, index] = threading.Event()

    def release(self) -> None:
        """Let all calls return that are blocked."""
        for event in self._blocked.values():
            event.set()
        self._blocked.clear()

    def nvmlInit(self) -> None:
        self._act()
        self._enter("nvmlInit", -1, initialised=False)
        with self._lock:
            self.initialised += 1
            if self.initialised == 1:
                self._session += 1

    def nvmlShutdown(self) -> None:
        self._act()
        self._enter("nvmlShutdown", -1)
        with self._lock:
            self.initialised -= 1
            if not self.initialised:
                self._session += 1

    def nvmlSystemGetDriverVersion(self) -> str:
        self._enter("nvmlSystemGetDriverVersion", -1)
        return str(self.driver)

    def nvmlDeviceGetCount(self) -> int:
        self._act()
        self._enter("nvmlDeviceGetCount", -1)
        return len(self.devices)

    def nvmlDeviceGetHandleByIndex(self, index: int) -> Handle:
        device = self.devices[index]
        self._enter("nvmlDeviceGetHandleByIndex", index, device)
        return Handle(index, self._session, device)

    def nvmlDeviceGetName(self, handle: Handle) -> Any:
        device = self._use("nvmlDeviceGetName", handle)
        if device.get("name_raises") == "UnicodeDecodeError":
            raise UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte")
        name = self._value(device, "name")
        return name.encode() if device.get("name_type") == "bytes" else name

    def nvmlDeviceGetPciInfo(self, handle: Handle) -> SimpleNamespace:
        bus = self._value(self._use("nvmlDeviceGetPciInfo", handle), "bus_id")
        if isinstance(bus, str) and bus.startswith("b'"):  # how a scenario spells bytes
            bus = bus[2:-1].encode()
        return SimpleNamespace(busId=bus)

    def nvmlDeviceGetMemoryInfo(self, handle: Handle, version: int | None = None) -> SimpleNamespace:
        device = self._use("nvmlDeviceGetMemoryInfo", handle)
        if version and (code := device.get("raises", {}).get("nvmlDeviceGetMemoryInfo_v2", 0)):
            raise NVMLError(code)
        total, free, used = self._value(device, "memory")
        if version:
            return SimpleNamespace(total=total, free=free, used=used, reserved=total - free - used)
        return SimpleNamespace(total=total, free=free, used=total - free)

    def nvmlDeviceGetUtilizationRates(self, handle: Handle) -> SimpleNamespace:
        gpu, memory = self._value(self._use("nvmlDeviceGetUtilizationRates", handle), "utilization")
        return SimpleNamespace(gpu=gpu, memory=memory)

    def nvmlDeviceGetClockInfo(self, handle: Handle, kind: int) -> Any:
        return self._value(self._use("nvmlDeviceGetClockInfo", handle), _CLOCKS[kind])

    def nvmlDeviceGetTemperature(self, handle: Handle, sensor: int) -> Any:
        assert sensor == 0
        return self._value(self._use("nvmlDeviceGetTemperature", handle), "temp_c")

    def nvmlDeviceGetTemperatureV(self, handle: Handle, sensor: int) -> Any:
        assert sensor == 0
        return self._value(self._use("nvmlDeviceGetTemperatureV", handle), "temp_c")

    def nvmlDeviceGetPcieThroughput(self, handle: Handle, counter: int) -> Any:
        return self._value(self._use("nvmlDeviceGetPcieThroughput", handle), "pcie_kib_s")[counter]

    def nvmlDeviceGetViolationStatus(self, handle: Handle, policy: int) -> SimpleNamespace:
        device = self._use("nvmlDeviceGetViolationStatus", handle)
        return SimpleNamespace(violationTime=self._value(device, _POLICIES[policy]))

    def nvmlDeviceGetCurrentClocksThrottleReasons(self, handle: Handle) -> Any:
        return self._value(self._use("nvmlDeviceGetCurrentClocksThrottleReasons", handle), "throttle_reasons")

    def nvmlDeviceGetFieldValues(self, handle: Handle, numbers: list[Any]) -> list[SimpleNamespace]:
        device = self._use("nvmlDeviceGetFieldValues", handle)
        return [self._field(device, number) for number in numbers]

    def nvmlDeviceGetMigMode(self, handle: Handle) -> list[int]:
        mode = int(self._value(self._use("nvmlDeviceGetMigMode", handle), "mig"))
        return [mode, mode]

    def nvmlDeviceGetMaxMigDeviceCount(self, handle: Handle) -> int:
        self._use("nvmlDeviceGetMaxMigDeviceCount", handle)
        return 7

    def nvmlDeviceGetMigDeviceHandleByIndex(self, handle: Handle, index: int) -> Handle:
        parts = self._use("nvmlDeviceGetMigDeviceHandleByIndex", handle).get("instances", [])
        if index >= len(parts):
            raise NVMLError(6)
        return Handle(handle.index, handle.session, parts[index])

    def nvmlEventSetCreate(self) -> SimpleNamespace:
        self._enter("nvmlEventSetCreate", -1)
        self.event_sets += 1
        return SimpleNamespace(devices=[], seen=0)

    def nvmlDeviceRegisterEvents(self, handle: Handle, kinds: int, events: SimpleNamespace) -> None:
        device = self._use("nvmlDeviceRegisterEvents", handle)
        assert kinds == CONSTANTS["nvmlEventTypeXidCriticalError"]
        events.seen = len(self._value(device, "xids"))  # only what happens from now on
        events.devices.append(device)

    def nvmlEventSetWait_v2(self, events: SimpleNamespace, milliseconds: int) -> SimpleNamespace:
        assert milliseconds == 0, "the cycle must not wait"
        (device,) = events.devices
        self._enter("nvmlEventSetWait_v2", device["index"], device)
        if events.seen >= len(device["xids"]):
            raise NVMLError(10)
        events.seen += 1
        return SimpleNamespace(eventType=8, eventData=device["xids"][events.seen - 1])

    def nvmlEventSetFree(self, events: SimpleNamespace) -> None:
        self._enter("nvmlEventSetFree", -1)
        self.event_sets -= 1

    def nvmlGpmQueryDeviceSupport(self, handle: Handle) -> SimpleNamespace:
        device = self._use("nvmlGpmQueryDeviceSupport", handle)
        return SimpleNamespace(isSupportedDevice=int("gpm" in device))

    def nvmlGpmSampleAlloc(self) -> Buffer:
        self._enter("nvmlGpmSampleAlloc", -1)
        self.buffers += 1
        return Buffer()

    def nvmlGpmSampleFree(self, buffer: Buffer) -> None:
        self._mine(buffer, "freed")
        buffer.freed = True
        self.buffers -= 1

    def nvmlGpmSampleGet(self, handle: Handle, buffer: Buffer) -> None:
        self._fill(buffer, self._value(self._use("nvmlGpmSampleGet", handle), "gpm"))

    def nvmlGpmMigSampleGet(self, handle: Handle, instance: int, buffer: Buffer) -> None:
        parts = self._use("nvmlGpmMigSampleGet", handle).get("instances", [])
        self._fill(buffer, self._value(next(part for part in parts if part["id"] == instance), "gpm"))

    def nvmlGpmMetricsGet(self, request: MetricsGet) -> MetricsGet:
        self._enter("nvmlGpmMetricsGet", -1)
        assert request.version == CONSTANTS["NVML_GPM_METRICS_GET_VERSION"]
        for buffer in (request.sample1, request.sample2):
            self._mine(buffer, "compared")
        assert request.sample2.time - request.sample1.time >= 0.1, "closer than the driver samples"
        for metric in request.metrics[: request.numMetrics]:
            value = request.sample2.metrics.get(GPM_METRICS[metric.metricId])
            metric.nvmlReturn, metric.value = (3, 0.0) if value is None else (0, value)
        return request

    def _act(self) -> None:
        """Let the sequence take place up to now."""
        while self._sequence and self._clock() - self._began >= self._sequence[0]["t"]:
            step = self._sequence.pop(0)
            self.refused.clear()
            if step.get("nvmlInit"):
                self.refused["nvmlInit"] = step["nvmlInit"]
            if step.get("every_call") == 1:  # somebody else has shut it down, and an init helps
                self.initialised = 0
                self._session += 1
            elif step.get("every_call"):
                self.refused["every call"] = step["every_call"]
            if "device_count" in step:
                self.devices = self._boards[: step["device_count"]]
                if "swapped" in step.get("note", ""):
                    self.devices = self.devices[::-1]
                    self._session += 1

    def _enter(self, call: str, index: int, device: Device | None = None, *, initialised: bool = True) -> None:
        self.calls[call, index] += 1
        if (event := self._blocked.get((call, index))) is not None:
            event.wait()
        if (seconds := self.delays.get((call, index))) is not None:
            self._pause(seconds)
        if initialised and not self.initialised:
            raise NVMLError(1)
        code = self.refused.get(call, 0) or self.refused.get("every call", 0)
        if not code and device is not None:
            code = device.get("raises", {}).get(call, 0)
            if not code and call not in ("nvmlDeviceGetHandleByIndex", "nvmlDeviceGetUUID"):
                code = device.get("raise_all_after_handle", 0)
        if code:
            raise NVMLError(code)

    def _use(self, call: str, handle: Handle) -> Device:
        self._enter(call, handle.index, handle.device)
        if handle.session != self._session:
            raise NVMLError(2)
        return handle.device

    def _reading(self, call: str, reading: str, handle: Handle) -> Any:
        return self._value(self._use(call, handle), reading)

    def _value(self, device: Device, reading: str) -> Any:
        if reading not in device:
            raise NVMLError(3)
        value = device[reading]
        return value(self._clock()) if callable(value) else value

    def _field(self, device: Device, number: Any) -> SimpleNamespace:
        identity, scope = number if isinstance(number, tuple) else (number, 0)
        assert scope == (0 if identity == 82 else 2**32 - 1)
        field = SimpleNamespace(fieldId=identity, nvmlReturn=0, valueType=3, value=SimpleNamespace())
        try:
            field.value.ullVal = self._value(device, _FIELDS[identity])
        except NVMLError as error:
            field.nvmlReturn = error.value
        return field

    def _mine(self, buffer: Buffer, what: str) -> None:
        if buffer.freed or buffer.thread != threading.get_ident():
            self.violations.append(f"{what}: freed {buffer.freed}, of another thread {buffer.thread}")

    def _fill(self, buffer: Buffer, metrics: Mapping[str, float]) -> None:
        self._mine(buffer, "filled")
        buffer.metrics, buffer.time = metrics, self._clock()
