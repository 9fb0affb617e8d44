"""Families in which the exporter, its process and the simulator's engine report on themselves."""

from __future__ import annotations

from exporter.catalogue.family import Family, Number, PageName, Scope, Type


def _self(
    name: str,
    unit: str,
    text: str,
    *labels: str,
    kind: Type = "gauge",
    number: Number = "float",
    scope: Scope = "self",
    page: PageName = "run",
    series: int = 1,
) -> Family:
    return Family(
        name=name, type=kind, unit=unit, help=text, scope=scope, page=page, labels=labels, number=number,
        series=series,
    )  # fmt: skip


GPU_UP = _self(
    "exporter_gpu_up", "", "1 when this GPU gave readings; otherwise 0 and the reason.", "gpu", "UUID", "reason",
    number="int", scope="board", page="node",
)  # fmt: skip

EXPORTER_FAMILIES = (
    _self("exporter_build_info", "info", "Always 1: the version that is running.", "version", number="int"),
    _self("exporter_source_up", "", "1 when the source's last reading is good and recent.", "source", number="int"),
    _self(
        "exporter_source_errors_total", "", "Times a source stopped giving good readings.", "source", "reason",
        kind="counter", number="int", series=2,
    ),
    _self(
        "exporter_samples_dropped_total", "", "Readings of a source that were not believable.", "source", "reason",
        kind="counter", number="int",
    ),
    _self(
        "exporter_collect_seconds", "seconds", "Time that taking readings cost, the last time that it was done.",
        "source",
    ),
    _self(
        "exporter_last_success_timestamp_seconds", "seconds", "Unix time of the source's last good reading; 0 before.",
        "source",
    ),
    _self("exporter_gpus_expected", "", "GPUs that the source should report.", "source", number="int"),
    _self("exporter_gpus_present", "", "GPUs that the source does report.", "source", number="int"),
    GPU_UP,
    _self(
        "exporter_collect_skipped_total", "", "Readings not taken, by reason.", "source", "reason",
        kind="counter", number="int",
    ),
    _self(
        "exporter_scrape_duration_seconds", "seconds", "Time that rendering took, of the pages before these.",
    ),
    _self(
        "exporter_exposition_bytes", "bytes", "Size, before compression, of the pages before these.",
        number="int",
    ),
)  # fmt: skip

EXPORT_FAMILIES = (
    _self(
        "exporter_source_choice_info", "info", "Always 1: whether a source of a real node is used, and why.",
        "source", "chosen", "reason", number="int", scope="source", page="export",
    ),
)  # fmt: skip
"""Of `stepscope export` alone: the lab has one source and no choice."""

ENGINE_FAMILIES = (
    _self("simulator_engine_lag_seconds", "seconds", "How far the simulated job is behind the wall clock."),
    _self(
        "simulator_engine_skipped_seconds_total", "seconds", "Wall-clock seconds given up because they came too late.",
        kind="counter",
    ),
)  # fmt: skip

PROCESS_FAMILIES = (
    _self("process_virtual_memory_bytes", "bytes", "Virtual memory size."),
    _self("process_resident_memory_bytes", "bytes", "Resident memory size."),
    _self("process_start_time_seconds", "seconds", "Start time of the process since the Unix epoch."),
    _self("process_cpu_seconds_total", "seconds", "User and system CPU time spent.", kind="counter"),
    _self("process_open_fds", "", "Open file descriptors."),
    _self("process_max_fds", "", "Most file descriptors that may be open."),
    _self(
        "python_info", "info", "Always 1: the Python that is running.",
        "version", "implementation", "major", "minor", "patchlevel",
    ),
)  # fmt: skip
