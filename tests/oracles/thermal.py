"""The thermal loop: a cooling fault on one GPU of the default preset."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from faults.book import FaultBook
from faults.effects import Effects
from simulator.observation import THROTTLE_HW_THERMAL, Floats
from simulator.presets import preset
from simulator.run import Run, topology_of
from tests.oracles.oracle import Oracle

_CLIFF = "throttled boards: 495 of 1,830 MHz above 87 °C and a step 2.4 × longer; AcmeTrace: healthy below 80 °C"
_SECONDS, _SETTLING = 240, 60
_VICTIM_OF_HEAT = 1
MODERATE, SEVERE = 2.5, 4.0


class PoorCooling(FaultBook):
    """No fault but a factor on the thermal resistance of one board."""

    factor = 1.0

    def effects(self, at_seconds: float) -> Effects:
        """Neutral, but for the board."""
        effects = super().effects(at_seconds)
        effects.thermal_resistance = effects.thermal_resistance.copy()
        effects.thermal_resistance[_VICTIM_OF_HEAT] *= self.factor
        return effects


@dataclass(frozen=True, slots=True)
class Heat:
    """240 seconds. Shapes: S seconds, R ranks."""

    throttled: NDArray[np.bool_]
    """(S, R) from the throttle reasons."""
    violation: Floats
    """(S, R) thermal violation counter, seconds."""
    celsius: Floats
    """(S, R)"""

    @property
    def switches(self) -> int:
        """How often the hot board began or stopped to throttle."""
        return int(np.abs(np.diff(self.throttled[:, _VICTIM_OF_HEAT].astype(int))).sum())

    @property
    def first_second(self) -> float:
        """When it first throttled; infinite when it never did."""
        column = self.throttled[:, _VICTIM_OF_HEAT]
        return float(np.argmax(column)) if column.any() else float("inf")


@cache
def heat(factor: float) -> Heat:
    """A run in which one board cools this many times worse."""
    spec = preset("workshop-4gpu")
    book = PoorCooling(topology_of(spec), seed=1)
    book.factor = factor
    run = Run(spec, seed=1, run="heat", faults=book)
    ticks = [run.advance() for _ in range(_SECONDS)]
    return Heat(
        np.array([tick.devices.throttle_reasons & THROTTLE_HW_THERMAL for tick in ticks]) > 0,
        np.array([tick.counters.thermal_violation_seconds for tick in ticks]),
        np.array([tick.devices.temperature_celsius for tick in ticks]),
    )


def disagreement() -> float:
    """Seconds by which the violation counter and the throttle bits of any board differ at any time."""
    found = [np.abs(h.violation - h.throttled.cumsum(axis=0)).max() for h in (heat(MODERATE), heat(SEVERE))]
    return float(max(found))


def least_cooling() -> float:
    """How much cooler the other boards are than in the healthy run, on average over three minutes: the least."""
    others = np.arange(4) != _VICTIM_OF_HEAT
    healthy = heat(1.0).celsius[_SETTLING:, others].mean(axis=0)
    cooler = [healthy - heat(factor).celsius[_SETTLING:, others].mean(axis=0) for factor in (MODERATE, SEVERE)]
    return float(np.min(cooler))


ORACLES = (
    Oracle("thermal-healthy", "throttled seconds of a healthy job in 240 s", _CLIFF,
           lambda: float(heat(1.0).throttled.sum()), low=0.0, high=0.0, digits=0),
    Oracle("thermal-moderate", "thermal resistance × 2.5: times it starts or stops throttling in 240 s", _CLIFF,
           lambda: float(heat(MODERATE).switches), low=4.0, digits=0),
    Oracle("thermal-severe", "thermal resistance × 4: seconds until it throttles", _CLIFF,
           lambda: heat(SEVERE).first_second, high=30.0, unit="s", digits=0),
    Oracle("thermal-latched", "the same: times it starts or stops throttling (1: never recovers)", _CLIFF,
           lambda: float(heat(SEVERE).switches), low=1.0, high=1.0, digits=0),
    Oracle("thermal-bits", "violation counter against throttle bits: largest difference", "definition of both",
           disagreement, high=1.0, unit="s", digits=1),
    Oracle("thermal-victims", "the boards that wait are cooler than when healthy: least difference of means",
           "closed loop: waiting draws less power", least_cooling, low=2.0, unit="K", digits=1),
)  # fmt: skip
