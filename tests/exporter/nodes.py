"""Sources that do what a test tells them, on clocks that stand still, and nodes made of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from exporter.catalogue import BY_NAME, GPU_LABELS
from exporter.choice import Chooser
from exporter.collector import Collector, Pace
from exporter.export_pages import ExportPages
from exporter.node import Node
from exporter.reading import Gpu, Reading, Sample
from exporter.render import Format
from exporter.source import SourceError

START = 1_900_000_000.0


@dataclass
class Clock:
    """Seconds since the start, and Unix time beside them."""

    now: float = 0.0

    def __call__(self) -> float:
        return self.now

    def wall(self) -> float:
        return START + self.now


@dataclass
class Scripted:
    """A source whose next cycle does `act`; `act` gives a reading, raises, or advances the clock."""

    act: Callable[[float], Any]
    name: str = "nvml"
    error_reasons: tuple[str, ...] = ("library_not_found", "driver_not_loaded", "version_mismatch", "unknown")
    drop_reasons: tuple[str, ...] = ("range",)
    cycles: int = 0
    closed: int = 0

    def collect(self, deadline: float) -> Reading:
        self.cycles += 1
        found: Reading = self.act(deadline)
        return found

    def close(self) -> None:
        self.closed += 1


def failing(reason: str, detail: str = "it says no") -> Callable[[float], Reading]:
    def act(_: float) -> Reading:
        raise SourceError(reason, detail)

    return act


def board(number: int, *, index: int | None = None, host: str = "node-a", reason: str = "") -> Gpu:
    """Board `number`; its index is the same unless another took its place."""
    place = str(number if index is None else index)
    uuid = f"GPU-{number:08d}"
    values = (place, uuid, f"00000000:{0x1A + number:02X}:00.0", f"nvidia{place}", "NVIDIA H100 80GB HBM3", host, "550")
    return Gpu(uuid=uuid, index=place, labels=tuple(zip(GPU_LABELS, values, strict=True)), reason=reason)


def sample(gpu: Gpu, value: float, *, instance: str = "", more: Mapping[str, str] | None = None) -> Sample:
    """A value of a board, or of a partition of it as dcgm-exporter labels those."""
    labels = list(gpu.labels)
    if instance:
        labels[5:5] = [("GPU_I_PROFILE", "1g.10gb"), ("GPU_I_ID", instance)]
    return Sample(gpu.key, (*labels, *(more or {}).items()), value, instance)


def reading(*gpus: Gpu, values: Mapping[str, float] | None = None, expected: int | None = None) -> Reading:
    """The same values for every board that is up; by default its utilization."""
    up = [gpu for gpu in gpus if gpu.up]
    families = {
        BY_NAME[name]: tuple(sample(gpu, value) for gpu in up)
        for name, value in (values or {"DCGM_FI_DEV_GPU_UTIL": 98}).items()
        if up
    }
    return Reading(families=families, gpus=gpus, expected=len(gpus) if expected is None else expected)


@dataclass
class FakeStatus:
    up: bool = True
    detail: str = "/run/recorder.sock"
    errors: dict[str, int] = field(default_factory=lambda: {"socket": 0})
    dropped: dict[str, int] = field(default_factory=lambda: {"syntax": 2})
    last_success: float = START
    runs: int = 0
    ranks: int = 0


@dataclass
class FakeJob:
    """Training jobs, one family of them."""

    error_reasons: tuple[str, ...] = ("socket",)
    drop_reasons: tuple[str, ...] = ("syntax",)
    seen: FakeStatus = field(default_factory=FakeStatus)
    failure: Exception | None = None
    started: int = 0
    closed: int = 0

    def start(self) -> None:
        self.started += 1

    def close(self) -> None:
        self.closed += 1

    def families(self, format_: Format) -> Iterator[str]:
        if self.failure is not None:
            raise self.failure
        name = "training_steps" if format_ is Format.OPENMETRICS else "training_steps_total"
        yield f'# HELP {name} Steps done.\n# TYPE {name} counter\ntraining_steps_total{{run="a"}} 7\n'

    def status(self) -> FakeStatus:
        if self.failure is not None:
            raise self.failure
        return self.seen


@dataclass
class Stage:
    """A node whose cycles a test runs by hand."""

    sources: tuple[Scripted, ...]
    asked: tuple[str, ...] = ()
    auto: bool = False
    job: FakeJob | None = None
    pace: Pace = field(default_factory=Pace)

    def __post_init__(self) -> None:
        self.clock = Clock()
        self.collectors = {
            source.name: Collector(source, pace=self.pace, clock=self.clock, wall=self.clock.wall, quiet=self.auto)
            for source in self.sources
        }
        self.due = dict.fromkeys(self.collectors, 0.0)
        self.node = Node(
            list(self.collectors.values()), Chooser(self.asked, auto=self.auto), self.job, wall=self.clock.wall
        )
        self.pages = ExportPages(self.node, version="1.2.3", clock=self.clock)

    def run_until(self, end: float) -> None:
        """Every cycle that is due until then, in the order in which they are."""
        while (name := min(self.due, key=lambda each: self.due[each])) and self.due[name] <= end:
            self.clock.now = max(self.clock.now, self.due[name])
            pause = self.collectors[name].cycle()
            self.due[name] = self.clock.now + max(pause, 1e-3)
        self.clock.now = max(self.clock.now, end)
