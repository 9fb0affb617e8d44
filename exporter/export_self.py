"""What `stepscope export` tells about itself: the families of the exporter, one series for each of its sources."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from exporter.catalogue import EXPORT_FAMILIES, EXPORTER_FAMILIES
from exporter.node import JOB, Moment
from exporter.render import Format, samples

Rows = list[tuple[Mapping[str, str], float]]


@dataclass(frozen=True, slots=True)
class Cost:
    """What the rendering before this one cost: a page cannot contain its own."""

    seconds: float = 0.0
    size: int = 0
    """Bytes before compression."""


def own_families(moment: Moment, cost: Cost, *, version: str, format_: Format) -> Iterator[str]:
    """All `exporter_*` families, present whatever the sources do."""
    rows = _rows(moment) | {
        "exporter_build_info": [({"version": version}, 1)],
        "exporter_scrape_duration_seconds": [({}, cost.seconds)],
        "exporter_exposition_bytes": [({}, cost.size)],
    }
    for family in EXPORTER_FAMILIES + EXPORT_FAMILIES:
        yield samples(family, rows.get(family.name, []), format_)


def _rows(moment: Moment) -> dict[str, Rows]:
    used = moment.chosen
    rows: dict[str, Rows] = {
        "exporter_source_up": [({"source": state.source}, state.up) for state in used],
        "exporter_source_errors_total": [],
        "exporter_samples_dropped_total": [],
        "exporter_collect_skipped_total": [],
        "exporter_collect_seconds": [({"source": state.source}, state.collect_seconds) for state in used],
        "exporter_last_success_timestamp_seconds": [({"source": state.source}, state.last_success) for state in used],
        "exporter_gpus_expected": [({"source": state.source}, state.expected) for state in used],
        "exporter_gpus_present": [({"source": state.source}, state.present) for state in used],
        "exporter_gpu_up": [
            ({"gpu": gpu.index, "UUID": gpu.uuid, "reason": gpu.reason}, gpu.up) for gpu in moment.merged.gpus
        ],
        "exporter_source_choice_info": [
            ({"source": choice.source, "chosen": str(choice.chosen).lower(), "reason": choice.reason}, 1)
            for choice in moment.choices
        ],
    }
    for state in used:
        rows["exporter_source_errors_total"] += _by_reason(state.source, state.errors)
        rows["exporter_samples_dropped_total"] += _by_reason(state.source, state.dropped)
        rows["exporter_collect_skipped_total"] += _by_reason(state.source, state.skipped)
    if moment.job is not None:
        job = {"source": JOB}
        rows["exporter_source_up"].append((job, moment.job.up))
        rows["exporter_last_success_timestamp_seconds"].append((job, moment.job.last_success))
        rows["exporter_source_errors_total"] += _by_reason(JOB, moment.job.errors)
        rows["exporter_samples_dropped_total"] += _by_reason(JOB, moment.job.dropped)
    return rows


def _by_reason(source: str, counts: Mapping[str, int]) -> Rows:
    return [({"source": source, "reason": reason}, count) for reason, count in counts.items()]
