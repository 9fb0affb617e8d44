"""What comes as numbered fields (memory temperature, NVLink) and as events (XID)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from exporter.sources.nvml.binding import TIMEOUT, UNSUPPORTED, code_of

_TYPES = ("dVal", "uiVal", "ulVal", "ullVal", "sllVal", "siVal", "usVal")
"""Member of a field's value that is valid, by its type."""
_BLANKS = {"uiVal": 2**32 - 1, "ulVal": 2**64 - 1, "ullVal": 2**64 - 1, "usVal": 2**16 - 1}
_ALL_LINKS = 2**32 - 1
_KIB = 1024
_MOST_EVENTS = 64
"""Of one cycle; more wait for the next."""

NVLINK = {
    "NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_TX": "DCGM_FI_PROF_NVLINK_TX_BYTES",
    "NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_RX": "DCGM_FI_PROF_NVLINK_RX_BYTES",
}
"""KiB moved since the driver was loaded, without what the protocol adds: their growth is the rate."""


class Fields:
    """Fields of one board, all asked for in one call; for the thread of its board."""

    def __init__(self, library: Any, clock: Callable[[], float]) -> None:
        self._library = library
        self._clock = clock
        self._asked = {library.NVML_FI_DEV_MEMORY_TEMP: "DCGM_FI_DEV_MEMORY_TEMP"}
        self._links = {getattr(library, name): family for name, family in NVLINK.items()}
        self._before: dict[int, tuple[float, int]] = {}
        """Time and KiB of the last cycle by field."""

    def read(self, handle: Any, *, links: bool) -> list[tuple[str, int | float]]:
        """Family and value; `links` asks for NVLink too, whose first cycle has no value. Raises what NVML raises."""
        links = links and bool(self._links)
        if not self._asked and not links:
            return []
        numbers: list[Any] = list(self._asked)
        if links:
            numbers += [(number, _ALL_LINKS) for number in self._links]
        found: list[tuple[str, int | float]] = []
        for field in self._library.nvmlDeviceGetFieldValues(handle, numbers):
            if field.nvmlReturn != 0:
                self._failed(field.fieldId, field.nvmlReturn)
            elif (value := _value(field)) is not None:
                found += self._known(field.fieldId, value)
        return found

    def _failed(self, number: int, code: int) -> None:
        self._before.pop(number, None)
        if code in UNSUPPORTED:
            self._asked.pop(number, None)
            self._links.pop(number, None)

    def _known(self, number: int, value: int | float) -> list[tuple[str, int | float]]:
        if number in self._asked:
            return [(self._asked[number], value)]
        now, total = self._clock(), int(value)
        before = self._before.get(number)
        self._before[number] = (now, total)
        # A counter that went back has started again: how much it counted meanwhile is not known.
        if before is None or now <= before[0] or total < before[1]:
            return []
        return [(self._links[number], (total - before[1]) * _KIB / (now - before[0]))]


def _value(field: Any) -> int | float | None:
    if not 0 <= field.valueType < len(_TYPES):
        return None
    member = _TYPES[field.valueType]
    value: int | float = getattr(field.value, member)
    return None if value == _BLANKS.get(member) else value


class Xid:
    """Critical errors of one board as they happen; for the thread of its board."""

    def __init__(self, library: Any, handle: Any, last: int) -> None:
        """`last` is what was known before. Raises what NVML raises, for boards without such events among others."""
        self._library = library
        self.last = last
        """Code of the last error; 0 when there was none."""
        self._events = library.nvmlEventSetCreate()
        try:
            library.nvmlDeviceRegisterEvents(handle, library.nvmlEventTypeXidCriticalError, self._events)
        except BaseException:
            self.free()
            raise

    def read(self) -> int:
        """The last code, after all that happened until now; never waits. Raises what NVML raises."""
        for _ in range(_MOST_EVENTS):
            try:
                event = self._library.nvmlEventSetWait_v2(self._events, 0)
            except Exception as error:
                if code_of(error) == TIMEOUT:  # nothing has happened
                    break
                raise
            if event.eventType & self._library.nvmlEventTypeXidCriticalError:
                self.last = int(event.eventData)
        return self.last

    def free(self) -> None:
        """Give the event set back; what NVML says to that changes nothing."""
        events, self._events = self._events, None
        if events is not None:
            try:
                self._library.nvmlEventSetFree(events)
            except Exception:
                return
