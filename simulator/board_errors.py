"""What the driver says of broken boards: the last XID of each, rows that it remapped, and lines in the kernel's log."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from faults.effects import EccError, Effects
from simulator.observation import Ints, RunInfo

XID_LOST = 79
"""GPU has fallen off the bus."""
_WORDS = {
    48: "DBE (double bit error) ECC error",
    63: "ECC page retirement or row remapping recorded",
    XID_LOST: "GPU has fallen off the bus",
    94: "Contained ECC error",
}
_MOST_LINES = 256
_MOST_AT_ONCE = 16
"""Lines for one event; of a hundred thousand GPUs that fail at once nobody reads more."""


@dataclass(frozen=True, slots=True)
class KernelLine:
    """One line of a node's kernel log."""

    seconds: float
    """Simulated seconds since the run began."""
    text: str


class BoardErrors:
    """Errors of all boards. Arrays have shape (R,), are sticky, and are never changed in place."""

    def __init__(self, info: RunInfo) -> None:
        self._info = info
        self.xid: Ints = np.zeros(info.ranks, dtype=np.int64)
        self.correctable_rows: Ints = np.zeros(info.ranks, dtype=np.int64)
        self.uncorrectable_rows: Ints = np.zeros(info.ranks, dtype=np.int64)
        self._lost = np.zeros(info.ranks, dtype=bool)
        self._known: dict[str, int] = {}
        """XID that each fault of memory has caused so far: one error is reported once."""
        self._lines: deque[KernelLine] = deque(maxlen=_MOST_LINES)

    def update(self, effects: Effects, *, seconds: float) -> None:
        """Note what breaks at this time."""
        fell = np.flatnonzero(effects.lost & ~self._lost)
        self._lost = effects.lost
        if len(fell):
            self._report(XID_LOST, fell, seconds)
        errors = {error.fault: error for error in effects.ecc_errors}
        self._known = {fault: xid for fault, xid in self._known.items() if fault in errors}
        for fault in sorted(errors):
            error = errors[fault]
            if self._known.get(fault) != error.xid:
                self._known[fault] = error.xid
                self._remap(error)
                self._report(error.xid, error.ranks, seconds)

    def drain(self) -> Sequence[KernelLine]:
        """Lines since the last call, in order; only the latest are kept for it."""
        lines = [*self._lines]
        self._lines.clear()
        return lines

    def _remap(self, error: EccError) -> None:
        rows = np.zeros(self._info.ranks, dtype=np.int64)
        rows[error.ranks] = error.rows
        if error.correctable:
            self.correctable_rows = self.correctable_rows + rows
        else:
            self.uncorrectable_rows = self.uncorrectable_rows + rows

    def _report(self, xid: int, ranks: Ints, seconds: float) -> None:
        self.xid = self.xid.copy()
        self.xid[ranks] = xid
        self._lines.extend(KernelLine(seconds, text) for text in self._texts(xid, ranks))

    def _texts(self, xid: int, ranks: Ints) -> Iterator[str]:
        for rank in ranks[:_MOST_AT_ONCE].tolist():
            gpu = self._info.gpus[rank]
            host = self._info.hostnames[gpu.node]
            yield f"{host} kernel: NVRM: Xid (PCI:{gpu.pci_bus_id[4:-2]}): {xid}, {_WORDS[xid]}"
        if len(ranks) > _MOST_AT_ONCE:
            yield f"and {len(ranks) - _MOST_AT_ONCE} more GPUs with Xid {xid}"
