"""GPM of one board: which buffers there should be, and what they give."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from exporter.sources.nvml.binding import UNSUPPORTED, code_of
from exporter.sources.nvml.calls import Calls
from exporter.sources.nvml.gpm import BOARD_METRICS, INSTANCE_METRICS, Gpm, Metric
from exporter.sources.nvml.samples import Place, Samples

_WHOLE = ""


class Profiler:
    """The GPM samples of a board and of its partitions; for the thread of the board."""

    def __init__(self, calls: Calls, handle: Any, clock: Callable[[], float]) -> None:
        self._calls = calls
        self._library = calls.binding
        self._handle = handle
        self._clock = clock
        self._supported: bool | None = None
        self._targets: dict[str, Gpm] = {}
        self._refused: set[str] = set()

    def read(self, samples: Samples, board: Place, parts: Sequence[Place]) -> frozenset[str]:
        """Add what the board and its partitions have; the families that the board itself gives, now or soon.

        Of a partitioned board only what its partitions do not have is read for the whole. Raises `Gone`.
        """
        if not self._is_supported():
            return frozenset()
        wanted: dict[str, tuple[Place, tuple[Metric, ...]]] = {
            part.instance: (part, INSTANCE_METRICS) for part in parts
        }
        wanted[_WHOLE] = (board, BOARD_METRICS if parts else INSTANCE_METRICS + BOARD_METRICS)
        self._dismiss(wanted)
        for instance, (place, metrics) in wanted.items():
            if instance not in self._refused:
                self._read(samples, place, metrics)
        whole = self._targets.get(_WHOLE)
        return frozenset() if whole is None else whole.families - whole.missing

    def free(self) -> None:
        """Give all buffers back."""
        for target in self._targets.values():
            target.free()
        self._targets.clear()

    def _is_supported(self) -> bool:
        if self._supported is None:
            call = "nvmlGpmQueryDeviceSupport"
            support = self._calls.ask(call, self._handle, once=call)
            if support is None:
                return False
            self._supported = bool(support.isSupportedDevice)
        return self._supported

    def _dismiss(self, wanted: Mapping[str, tuple[Place, tuple[Metric, ...]]]) -> None:
        self._refused &= wanted.keys()
        for instance, target in list(self._targets.items()):
            metrics = wanted[instance][1] if instance in wanted else ()
            if target.families != {family for _, family, _ in metrics}:
                self._targets.pop(instance).free()

    def _read(self, samples: Samples, place: Place, metrics: Sequence[Metric]) -> None:
        try:
            target = self._targets.get(place.instance)
            if target is None:
                target = Gpm(self._library, metrics, self._filling(place.instance), self._clock)
                self._targets[place.instance] = target
            values = target.read()
        except Exception as error:
            code = code_of(error)
            if code in UNSUPPORTED and place.instance in self._targets:
                self._targets.pop(place.instance).free()
            if code in UNSUPPORTED:
                self._refused.add(place.instance)
            name = f"nvmlGpmMigSampleGet of instance {place.instance}" if place.instance else "nvmlGpmSampleGet"
            self._calls.failed(name, code, once=name)
        else:
            for family, value in values:
                samples.add(family, value, place)

    def _filling(self, instance: str) -> Callable[[Any], object]:
        library, handle = self._library, self._handle
        if instance:
            number = int(instance)
            return lambda buffer: library.nvmlGpmMigSampleGet(handle, number, buffer)
        return lambda buffer: library.nvmlGpmSampleGet(handle, buffer)
