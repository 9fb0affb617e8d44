"""One GPU, read call by call: what one call cannot give costs its own families and no other."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from exporter.catalogue import BY_NAME, HOSTNAME
from exporter.reading import Gpu, Labels
from exporter.sources.nvml import partitions
from exporter.sources.nvml.binding import NOT_SUPPORTED, UNKNOWN, reason_of, text
from exporter.sources.nvml.calls import Calls, Gone
from exporter.sources.nvml.counters import NVLINK, Fields, Xid
from exporter.sources.nvml.profiler import Profiler
from exporter.sources.nvml.queries import BOARD_QUERIES, MEMORY
from exporter.sources.nvml.samples import Place, Samples

_LINKS = tuple(NVLINK.values())
_BANDWIDTH = "DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL"
_HANDLE = "nvmlDeviceGetHandleByIndex"
_UUID = "nvmlDeviceGetUUID"


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """Where the boards are; the same for all of them."""

    hostname: str
    hostname_label: str = HOSTNAME
    driver: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """What one board gave in one cycle."""

    gpu: Gpu
    samples: Samples
    """Empty when `gpu` has a reason."""
    failures: Mapping[str, int]
    """NVML's code by the call that failed in this cycle."""
    unsupported: Mapping[str, int]
    """NVML's code by what this board does not have."""
    code: int
    """Why nothing was had; 0 when something was."""
    taken: float
    """When reading it began, by the source's clock: its oldest value is as old as that."""
    last_xid: int


class Board:
    """A board by its index, from `nvmlInit` to `nvmlShutdown`.

    Everything but the constructor is for one thread, its worker's: handles and buffers never leave it.
    """

    def __init__(
        self, library: Any, index: int, *, node: Node, clock: Callable[[], float], xids: Mapping[str, int]
    ) -> None:
        """`xids` are the last errors known, by UUID. Nothing is asked of the driver yet."""
        self._calls = Calls(library)
        self._library = library
        self._index = index
        self._node = node
        self._clock = clock
        self._xids = xids
        self._handle: Any = None
        self._place = Place("", ())
        self._profiler: Profiler | None = None
        self._fields = Fields(library, clock)
        self._xid: Xid | None = None
        self._identify("")

    def read(self) -> Snapshot:
        """One cycle. Never raises for what the driver says."""
        calls, samples, code, began = self._calls, Samples(), 0, self._clock()
        calls.failures = {}
        try:
            self._open()
            self._read(samples)
        except Gone as gone:
            samples, code = Samples(dropped=samples.dropped), gone.code
            self._listen()
        if not samples.families and not code:
            code = next(iter(calls.failures.values()), NOT_SUPPORTED)
        return Snapshot(
            gpu=replace(self._gpu, reason=reason_of(code)) if code else self._gpu,
            samples=samples,
            failures=calls.failures,
            unsupported=dict(calls.unsupported),
            code=code,
            taken=began,
            last_xid=self._xid.last if self._xid else 0,
        )

    def close(self) -> None:
        """Give buffers and events back, before NVML is shut down. The board can be read no more."""
        if self._profiler is not None:
            self._profiler.free()
        if self._xid is not None:
            self._xid.free()
        self._handle = self._profiler = self._xid = None

    def _open(self) -> None:
        if self._handle is not None:
            return
        calls = self._calls
        handle = calls.ask(_HANDLE, self._index)
        if handle is None:
            raise Gone(calls.failures.get(_HANDLE, UNKNOWN))
        said = calls.ask(_UUID, handle, once=_UUID)
        if said is None and _UUID not in calls.unsupported:  # without it this would be another board
            raise Gone(calls.failures.get(_UUID, UNKNOWN))
        uuid = text(said or "")
        self._identify(uuid)
        name = text(calls.ask("nvmlDeviceGetName", handle) or "") or "unknown"
        pci = calls.ask("nvmlDeviceGetPciInfo", handle)
        self._identify(uuid, name, "" if pci is None else text(pci.busId))
        self._profiler = Profiler(calls, handle, self._clock)
        last = self._xids.get(uuid, 0)
        self._xid = calls.attempt("nvmlDeviceRegisterEvents", lambda: Xid(self._library, handle, last))
        self._handle = handle

    def _listen(self) -> None:
        """Why a board is gone is often its last event, which does not outlive the session."""
        if self._xid is not None:
            with suppress(Exception):
                self._xid.read()

    def _identify(self, uuid: str, name: str = "", bus: str = "") -> None:
        labels = (
            ("gpu", str(self._index)), ("UUID", uuid), ("pci_bus_id", bus), ("device", f"nvidia{self._index}"),
            ("modelName", name), (self._node.hostname_label, self._node.hostname),
            ("DCGM_FI_DRIVER_VERSION", self._node.driver),
        )  # fmt: skip
        known = tuple(label for label in labels if label[1])
        self._gpu = Gpu(uuid=uuid, index=str(self._index), labels=known)
        self._place = Place(self._gpu.key, known)

    def _read(self, samples: Samples) -> None:
        calls, place = self._calls, self._place
        parts = partitions.find(calls, self._handle)
        profiled = frozenset[str]() if parts is None else self._read_parts(samples, parts)
        for query in BOARD_QUERIES:
            if not query.profiled or query.families[0] not in profiled:
                calls.query(query, self._handle, samples, place)
        self._read_rest(samples, profiled)

    def _read_parts(self, samples: Samples, parts: list[partitions.Partition]) -> frozenset[str]:
        """What partitions have of their own, or the board when it is whole; what of it GPM gives for the board."""
        calls, place = self._calls, self._place
        assert self._profiler is not None
        places = [Place(place.gpu, self._labels(part), part.number) for part in parts]
        for part, where in zip(parts, places, strict=True):
            calls.query(MEMORY, part.handle, samples, where)
        if not parts:  # the memory of a partitioned board is that of its partitions: both would count twice
            calls.query(MEMORY, self._handle, samples, place)
        return self._profiler.read(samples, place, places)

    def _read_rest(self, samples: Samples, profiled: frozenset[str]) -> None:
        calls, place, xid = self._calls, self._place, self._xid
        links = not profiled.issuperset(_LINKS)
        numbered = calls.attempt("nvmlDeviceGetFieldValues", lambda: self._fields.read(self._handle, links=links))
        for family, value in numbered or ():
            samples.add(family, value, place)
        if xid is not None and (code := calls.attempt("nvmlEventSetWait_v2", xid.read)) is not None:
            samples.add("DCGM_FI_DEV_XID_ERRORS", code, place)
        sent, received = (samples.families.get(family) for family in _LINKS)
        if sent and received:
            both = sent[0].value + received[0].value
            samples.add(_BANDWIDTH, both * BY_NAME[_BANDWIDTH].scale, place)

    def _labels(self, part: partitions.Partition) -> Labels:
        own = (("GPU_I_PROFILE", part.profile), ("GPU_I_ID", part.number))
        known = tuple(label for label in own if label[1])
        labels = self._place.labels
        # In dcgm-exporter's order they come before the node's name and what follows it.
        behind = (self._node.hostname_label, "DCGM_FI_DRIVER_VERSION")
        first = tuple(label for label in labels if label[0] not in behind)
        return (*first, *known, *labels[len(first) :])
