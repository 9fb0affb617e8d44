"""The truth page: which faults act. It must never share a page with anything that an exercise may see."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from exporter.catalogue import BY_NAME
from exporter.render import Format, samples
from simulator.observation import Tick


def truth_families(tick: Tick | None, event_counts: Mapping[tuple[str, str], int], format_: Format) -> Iterator[str]:
    """Active faults and the run's preset and seed from `tick`, event counts by (kind, event)."""
    faults = tick.faults if tick is not None else ()
    yield samples(
        BY_NAME["lab_fault_active"],
        [({"name": fault.name, "kind": fault.kind, "target": fault.target}, fault.intensity) for fault in faults],
        format_,
    )
    yield samples(
        BY_NAME["lab_fault_events_total"],
        [({"kind": kind, "event": event}, count) for (kind, event), count in sorted(event_counts.items())],
        format_,
    )
    info = tick.info if tick is not None else None
    rows = [({"run": info.run, "preset": info.preset, "seed": str(info.seed)}, 1.0)] if info is not None else []
    yield samples(BY_NAME["lab_run_info"], rows, format_)
