"""The way from the boards to whoever asks: sources that repeat old readings, counters that somebody else holds, nodes
that do not answer. What is true does not change by it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faults.effects import Effects, Outage
from simulator.observation import Counters, Devices, Floats, Monitoring
from simulator.streams import FaultStreams, uniform_rows

PROFILING_STRETCH_SECONDS, NODE_STRETCH_SECONDS = 60.0, 10.0
"""Who else profiles does so for a minute; a node that answers now and then changes its mind every ten seconds."""
_DEVICES = tuple(field.name for field in fields(Devices))
_COUNTERS = (
    "energy_joules",
    "thermal_violation_seconds",
    "power_violation_seconds",
    "xid",
    "correctable_remapped_rows",
    "uncorrectable_remapped_rows",
)
"""Counters of the boards, which their source repeats with their readings."""


class MonitoringPath:
    """What is seen of a run. Keeps the last reading of every board whose source is late. Arrays have shape (R,)."""

    def __init__(self, *, ranks: int, gpus_per_node: int) -> None:
        self._ranks, self._per_node = ranks, gpus_per_node
        self._nodes = -(-ranks // gpus_per_node)
        self._held: dict[str, Any] = {}
        self._read_at = np.full(ranks, -np.inf)
        self._profiling = FaultStreams("profiling outage", uniform_rows)
        self._answers = FaultStreams("node outage", uniform_rows)

    def see(self, devices: Devices, counters: Counters, effects: Effects, *, seconds: float) -> Monitoring | None:
        """What the monitoring shows of the second that ends at `seconds`; None when that is what is."""
        late = effects.refresh_seconds > 0.0
        wrong = late.any() or effects.lost.any() or effects.profiling_outages or effects.node_outages
        if not late.any():
            self._held.clear()
        if not wrong:
            return None
        devices = _without(devices, effects.lost)
        if late.any():
            devices, counters = self._repeated(devices, counters, effects.refresh_seconds, seconds)
        silent = self._out(effects.node_outages, self._answers, seconds, NODE_STRETCH_SECONDS)
        reachable = np.ones(self._nodes, dtype=bool)
        reachable[np.flatnonzero(silent) // self._per_node] = False
        profiled = ~self._out(effects.profiling_outages, self._profiling, seconds, PROFILING_STRETCH_SECONDS)
        return Monitoring(devices, counters, profiled, reachable)

    def _repeated(
        self, devices: Devices, counters: Counters, refresh_seconds: Floats, seconds: float
    ) -> tuple[Devices, Counters]:
        """The last readings of boards whose next one is not due yet, and those of now of all others."""
        if not self._held:
            self._read_at = np.full(self._ranks, -np.inf)
        read = (refresh_seconds == 0.0) | (seconds - self._read_at >= refresh_seconds)
        self._read_at = np.where(read, seconds, self._read_at)
        now: dict[str, Any] = {name: getattr(devices, name) for name in _DEVICES}
        now |= {name: getattr(counters, name) for name in _COUNTERS}
        held = self._held
        self._held = {name: np.where(read, new, held[name]) if held else new for name, new in now.items()}
        return (
            replace(devices, **{name: self._held[name] for name in _DEVICES}),
            replace(counters, **{name: self._held[name] for name in _COUNTERS}),
        )

    def _out(
        self, outages: Iterable[Outage], streams: FaultStreams, seconds: float, stretch_seconds: float
    ) -> NDArray[np.bool_]:
        out = np.zeros(self._ranks, dtype=bool)
        stretch = int(seconds / stretch_seconds)
        for outage in outages:
            if streams.rows(outage.fault, outage.seed, stretch, 1)[0, 0] < outage.share:
                out[outage.ranks] = True
        return out


def _without(devices: Devices, lost: NDArray[np.bool_]) -> Devices:
    """The readings without those of GPUs that are gone."""
    if not lost.any():
        return devices
    names = [name for name in _DEVICES if getattr(devices, name).dtype.kind == "f"]
    gone: dict[str, Any] = {name: np.where(lost, np.nan, getattr(devices, name)) for name in names}
    return replace(devices, **gone)
