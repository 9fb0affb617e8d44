"""Which boards the machine should have: all that were ever seen, by UUID, and all that NVML counts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from exporter.reading import Gpu

MISSING = "gpu_lost"
"""Reason of a board that was there and is not counted any more."""


class Roster:
    """Remembers each board until the source is made anew: one that is exchanged stays expected until then."""

    def __init__(self) -> None:
        self._known: dict[str, Gpu] = {}

    def complete(self, found: Iterable[Gpu]) -> tuple[Gpu, ...]:
        """The boards found and those missing.

        A board that is down and has no UUID is one of the missing, the one that had its index if that is among them;
        only when none is missing is it a board never seen before.
        """
        gpus = list(found)
        here = {gpu.uuid for gpu in gpus}
        missing = {uuid: gpu for uuid, gpu in self._known.items() if uuid not in here}
        for place, gpu in enumerate(gpus):
            if not gpu.uuid and not gpu.up and missing:
                had = next((uuid for uuid, known in missing.items() if known.index == gpu.index), next(iter(missing)))
                gpus[place] = replace(missing.pop(had), reason=gpu.reason)
        self._known |= {gpu.uuid: replace(gpu, reason="") for gpu in gpus if gpu.uuid}
        return (*gpus, *(replace(gpu, reason=MISSING) for gpu in missing.values()))
