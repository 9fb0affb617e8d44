"""What the exporter tells about itself, its process and the simulator's engine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from prometheus_client import CollectorRegistry, PlatformCollector, ProcessCollector

from exporter.catalogue import ENGINE_FAMILIES, EXPORTER_FAMILIES, GPU_UP, PROCESS_FAMILIES
from exporter.render import Format, samples

Rows = list[tuple[Mapping[str, str], float]]

DOWN_REASONS = ("stale", "engine_failed")
"""Why a source that has worked can be down; each is a series from the start, so that its first increase is seen."""


@dataclass(frozen=True, slots=True)
class SelfMetrics:
    """Values of the `exporter_*` families for one source, as of one tick."""

    source: str
    version: str
    up: bool = False
    errors: tuple[int, ...] = (0,) * len(DOWN_REASONS)
    """One per DOWN_REASONS."""
    dropped: int = 0
    skipped: int = 0
    collect_seconds: float = 0.0
    last_success: float = 0.0
    expected: int = 0
    present: int = 0
    render_seconds: float = 0.0
    exposition_bytes: int = 0

    def families(self, format_: Format, *, gpu_up: bool) -> Iterator[str]:
        """All `exporter_*` families, present whatever the source does.

        `gpu_up`: whether to announce the family of per-GPU states, whose samples stand with the other series of a GPU.
        """
        rows = self._rows()
        for family in EXPORTER_FAMILIES:
            if gpu_up or family is not GPU_UP:
                yield samples(family, rows.get(family.name, []), format_)

    def _rows(self) -> dict[str, Rows]:
        source = {"source": self.source}
        return {
            "exporter_build_info": [({"version": self.version}, 1)],
            "exporter_source_up": [(source, self.up)],
            "exporter_source_errors_total": [
                (source | {"reason": reason}, count) for reason, count in zip(DOWN_REASONS, self.errors, strict=True)
            ],
            "exporter_samples_dropped_total": [(source | {"reason": "range"}, self.dropped)],
            "exporter_collect_seconds": [(source, self.collect_seconds)],
            "exporter_last_success_timestamp_seconds": [(source, self.last_success)],
            "exporter_gpus_expected": [(source, self.expected)],
            "exporter_gpus_present": [(source, self.present)],
            "exporter_collect_skipped_total": [(source | {"reason": "source_down"}, self.skipped)],
            "exporter_scrape_duration_seconds": [({}, self.render_seconds)],
            "exporter_exposition_bytes": [({}, self.exposition_bytes)],
        }


def engine_families(lag_seconds: float, skipped_seconds: float, format_: Format) -> Iterator[str]:
    """How well the engine keeps up with the wall clock."""
    for family, value in zip(ENGINE_FAMILIES, (lag_seconds, skipped_seconds), strict=True):
        yield samples(family, [({}, value)], format_)


class ProcessMetrics:
    """`process_*` and `python_info` of this process, on a registry of its own: the global one belongs to nobody.

    `python_gc_*` is left out: nine series that say nothing about a job, beyond the budget of a run page.
    """

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)
        PlatformCollector(registry=self._registry)

    def families(self, format_: Format) -> Iterator[str]:
        """Families in the catalogue's order; what the platform does not offer has no sample."""
        rows: dict[str, Rows] = {}
        for metric in self._registry.collect():
            for sample in metric.samples:
                rows.setdefault(sample.name, []).append((sample.labels, sample.value))
        for family in PROCESS_FAMILIES:
            yield samples(family, rows.get(family.name, []), format_)
