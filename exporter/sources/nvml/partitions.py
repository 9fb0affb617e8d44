"""Partitions (MIG) of a board: which GPU instances there are, and what they are called."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from exporter.sources.nvml.binding import NOTHING, UNSUPPORTED, code_of, text
from exporter.sources.nvml.calls import Calls

PROFILE = re.compile(r"\bMIG (?:\d+c\.)?(\d+g\.\S+)")
"""In the name of a MIG device. What a compute instance takes of its GPU instance (`1c.`) is not part of the profile."""
_MODE = "nvmlDeviceGetMigMode"
_DEVICE = "nvmlDeviceGetMigDeviceHandleByIndex"
_LISTING = {"nvmlDeviceGetMaxMigDeviceCount", _DEVICE, "nvmlDeviceGetGpuInstanceId"}
_MOST = 64
"""Above what any board can be divided into; a driver that claims more is not followed."""


@dataclass(frozen=True, slots=True)
class Partition:
    """A GPU instance."""

    number: str
    """Value of GPU_I_ID."""
    profile: str
    """Value of GPU_I_PROFILE; empty when the driver does not tell."""
    handle: Any
    """Of a MIG device in it: all of them share the memory of the instance."""


def find(calls: Calls, board: Any) -> list[Partition] | None:
    """GPU instances that hold a MIG device, in the driver's order; empty when the board is whole.

    None when the driver does not tell in this cycle: taken for whole, a partitioned board would be counted as something
    that it is not. Raises `Gone`.
    """
    mode = calls.ask(_MODE, board, once=_MODE)
    if mode is None:
        return None if _MODE in calls.failures else []
    if not mode[0]:
        return []
    found: dict[str, Partition] = {}
    for index in range(min(_MOST, calls.ask("nvmlDeviceGetMaxMigDeviceCount", board) or 0)):
        device = _device(calls, board, index)
        number = None if device is None else calls.ask("nvmlDeviceGetGpuInstanceId", device)
        if number is None or str(number) in found:
            continue
        name = calls.ask("nvmlDeviceGetName", device)
        named = PROFILE.search(text(name)) if name is not None else None
        found[str(number)] = Partition(str(number), named[1] if named else "", device)
    return list(found.values()) or (None if calls.failures.keys() & _LISTING else [])


def _device(calls: Calls, board: Any, index: int) -> Any:
    try:
        return calls.binding.nvmlDeviceGetMigDeviceHandleByIndex(board, index)
    except Exception as error:
        code = code_of(error)
        if code not in NOTHING | UNSUPPORTED:  # most places are empty, which NVML calls an error
            calls.failed(_DEVICE, code)
        return None
