"""How much faster a page is rendered than by prometheus_client: `python -m tests.exporter.bench_render` prints JSON.

Both render the same samples, taken from a page of ours; both results are parsed with prometheus_client's own parser and
must be equal. The reference gets its families ready-made, ours starts from a tick whose label text is prepared, as in
a running lab.
"""

from __future__ import annotations

import gc
import json
import statistics
import time
from collections.abc import Callable, Iterator

from prometheus_client import CollectorRegistry, Metric, generate_latest
from prometheus_client.registry import Collector

from exporter.pages import Pages
from tests.exporter.exposition import official
from tests.exporter.ticks import StubClock, StubEngine, run_info, tick

GPUS = 1_220
"""With 49 series each, 153 nodes and a run this makes 60,000 samples less a few."""


class _Ready(Collector):
    def __init__(self, families: list[Metric]) -> None:
        self._families = families

    def collect(self) -> Iterator[Metric]:
        yield from self._families


def measure(*, gpus: int = GPUS, repeats: int = 5) -> dict[str, float | int]:
    """Median seconds of both, in alternation, and their ratio. AssertionError when the results differ."""
    info = run_info(ranks=gpus, gpus_per_node=8)
    engine, clock = StubEngine(), StubClock()
    pages = Pages(engine, clock=clock)

    def ours(index: int) -> bytes:
        engine.tick = tick(info, index=index)
        clock.now = engine.tick.timestamp
        gc.collect()
        return _timed(lambda: pages.all().body, ours_seconds)

    ours_seconds: list[float] = []
    reference_seconds: list[float] = []
    body = ours(0)
    families = _families(body)
    samples = sum(len(family.samples) for family in families)
    registry = CollectorRegistry()
    registry.register(_Ready(families))
    first_seconds = ours_seconds.pop()
    for index in range(1, repeats + 1):
        ours(index)
        gc.collect()
        reference = _timed(lambda: generate_latest(registry), reference_seconds)
    assert _values(_families(reference)) == _values(families)
    mine, theirs = statistics.median(ours_seconds), statistics.median(reference_seconds)
    return {
        "samples": samples,
        "first_seconds": round(first_seconds, 4),
        "ours_seconds": round(mine, 4),
        "prometheus_client_seconds": round(theirs, 4),
        "ours_microseconds_per_sample": round(1e6 * mine / samples, 3),
        "ratio": round(theirs / mine, 1),
    }


def _timed(work: Callable[[], bytes], into: list[float]) -> bytes:
    started = time.perf_counter()
    result = work()
    into.append(time.perf_counter() - started)
    return result


def _families(body: bytes) -> list[Metric]:
    # As gauges, since prometheus_client would add `_total` to the counters of DCGM.
    text = "".join(
        line.rsplit(" ", 1)[0] + " gauge\n" if line.startswith("# TYPE") and line.endswith(" counter\n") else line
        for line in body.decode().splitlines(keepends=True)
    )
    return official(text, openmetrics=False)


def _values(families: list[Metric]) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in families
        for sample in family.samples
    }


if __name__ == "__main__":
    print(json.dumps(measure(), indent=2))
