"""How much faster than real time a headless run is."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from benchmarks.row import Row, spread

if TYPE_CHECKING:
    from faults.spec import FaultSpec

PRESET = "workshop-4gpu"
FASTER = 1_000.0
_FAULTS = {"": "", "under io_starvation (tail)": "io_starvation:mode=tail"}


def rows(*, quick: bool) -> Iterator[Row]:
    """Simulated seconds per second of `simulate`, healthy and starved."""
    from faults.parse import parse_fault

    steps, runs = (50, 1) if quick else (10_000, 5)
    for title, text in _FAULTS.items():
        faults = [parse_fault(text)] if text else []
        _ratio(20, faults)
        ratios = [_ratio(steps, faults) for _ in range(runs)]
        name = f"headless {PRESET} {title}".rstrip()
        detail = f"simulated seconds per second, {steps:,} steps; {spread(ratios, '×')}"
        yield Row(name, statistics.median(ratios), "×", at_least=FASTER, detail=detail)


def _ratio(steps: int, faults: Sequence[FaultSpec]) -> float:
    from simulator.headless import simulate
    from simulator.presets import preset

    started = time.perf_counter()
    result = simulate(preset(PRESET), steps=steps, seed=1, faults=faults)
    elapsed = time.perf_counter() - started
    return float(result["step_seconds"]["mean"]) * steps / elapsed
