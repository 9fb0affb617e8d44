"""A source on a fake NVML and on a clock that a test moves."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from exporter.catalogue import find
from exporter.reading import Gpu, Reading, Sample
from exporter.source import SourceError
from exporter.sources.nvml.source import NvmlSource
from tests.exporter.nvml.fake import Device, FakeNvml

DATA = Path(__file__).parents[2] / "data" / "nvml"
HOSTNAME = "lab-node-a"


class Clock:
    """Moves only when told to; any thread may tell."""

    def __init__(self) -> None:
        self.now = 100.0
        self._lock = threading.Lock()

    def __call__(self) -> float:
        return self.now

    def advance(self, seconds: float) -> None:
        with self._lock:
            self.now += seconds


class Rig:
    """One node under test."""

    def __init__(self, *devices: Device, scenario: dict[str, Any] | None = None, **options: Any) -> None:
        self.clock = Clock()
        self.fake = FakeNvml(*devices, scenario=scenario, clock=self.clock, pause=self.clock.advance)
        self.source = NvmlSource(library=self.fake, hostname=HOSTNAME, clock=self.clock, **options)

    def cycle(self, *, after: float = 1.0, patience: float = 30.0) -> Reading:
        """One cycle, a second after the last one."""
        self.clock.advance(after)
        return self.source.collect(self.clock.now + patience)

    def cycle_until(self, settled: Callable[[Reading], bool]) -> Reading:
        """The first reading for which `settled` holds; a minute of real time is enough for any thread to wake up."""
        give_up = time.monotonic() + 60.0
        while time.monotonic() < give_up:
            try:
                reading = self.cycle(after=0.01)
            except SourceError:
                continue
            if settled(reading):
                return reading
        raise AssertionError("a thread did not come back")

    def cycles_until_error(self, said: str) -> None:
        """Cycles until one fails, saying this; a minute of real time is enough for any thread to wake up."""
        give_up = time.monotonic() + 60.0
        while time.monotonic() < give_up:
            try:
                self.cycle(after=0.01)
            except SourceError as error:
                if said in str(error):
                    return
                raise
        raise AssertionError("no cycle failed")


def scenario(name: str) -> dict[str, Any]:
    """One of the collected scripts."""
    found: dict[str, Any] = json.loads((DATA / name).read_text(encoding="utf-8"))
    return found


def rows(reading: Reading, name: str, gpu: str | None = None) -> list[Sample]:
    """Samples of a family, of all boards or of the one with this UUID."""
    family = find(f"DCGM_FI_{name}")
    assert family is not None, name
    return [sample for sample in reading.families.get(family, ()) if gpu is None or sample.gpu == gpu]


def value(reading: Reading, name: str, gpu: str | None = None) -> int | float | None:
    """The value of a board that has one row of this family; None when it has none."""
    found = rows(reading, name, gpu)
    assert len(found) <= 1, found
    return found[0].value if found else None


def states(reading: Reading) -> dict[str, str]:
    """Reason by board; empty for those that are up."""
    return {gpu.key: gpu.reason for gpu in reading.gpus}


def all_up(reading: Reading) -> bool:
    """Whether every board gives something."""
    return all(gpu.up for gpu in reading.gpus)


def names(reading: Reading, gpu: str) -> set[str]:
    """Families, without their common beginning, in which this board has a row."""
    return {
        family.name.removeprefix("DCGM_FI_")
        for family, samples in reading.families.items()
        if any(sample.gpu == gpu for sample in samples)
    }


def board(reading: Reading, key: str) -> Gpu:
    """One of the boards."""
    return next(gpu for gpu in reading.gpus if gpu.key == key)
