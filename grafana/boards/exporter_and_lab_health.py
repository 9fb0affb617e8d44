"""Exporter and lab health: whether what the other boards show can be believed."""

from __future__ import annotations

from boards_lib import palette
from boards_lib.about import About, Limits
from boards_lib.formulas import MOST_ROWS, WINDOW
from boards_lib.layout import Board, Placed, Row
from boards_lib.lines import bars, lines
from boards_lib.queries import Query
from boards_lib.states import states
from boards_lib.style import RATIO
from boards_lib.tables import Column, table
from boards_lib.tiles import Tile, tiles
from boards_lib.variables import run_passed_on
from diagnosis import thresholds

ALL = Limits(low=thresholds.COMPLETE, healthy=thresholds.COMPLETE)
TARGET = "job, instance"
SUCCESS = "exporter_last_success_timestamp_seconds"
EXPORTER = f"on ({TARGET}) group_left () max by ({TARGET}) (exporter_build_info)"
"""Of metrics that every process has, keeps those of an exporter: a build info is always 1."""

SUMMARY = tiles(
    About(
        title="Can the other boards be believed?",
        question="Is everything measured that should be, and just now?",
        healthy="three times 100 %, a reading younger than three seconds, no lag, alerting alive.",
        reading=(
            "Absent is not zero: a target that is down leaves gaps, not zeros. The lag is how far the simulated job is "
            "behind the wall clock; alerting is alive while the alert that always fires does."
        ),
    ),
    (
        Tile(name="Targets up", expr="avg(up)", limits=ALL),
        Tile(name="Sources up", expr="avg(exporter_source_up)", limits=ALL),
        Tile(
            name="GPUs present",
            expr="sum(exporter_gpus_present) / (sum(exporter_gpus_expected) > 0)",
            limits=ALL,
        ),
        Tile(
            name="Age of the readings",
            expr=f"max(timestamp({SUCCESS}) - ({SUCCESS} > 0))",
            unit="s",
            decimals=1,
        ),
        Tile(name="Lag of the engine", expr="max(simulator_engine_lag_seconds)", unit="s", decimals=1),
        Tile(
            name="Alerting alive",
            expr='max(ALERTS{alertname="Watchdog", alertstate="firing"}) or vector(0)',
            limits=ALL,
        ),
    ),
)

TARGETS = states(
    About(
        title="Targets",
        question="Which target did not answer, and when?",
        healthy="up, without a gap.",
        reading=(
            "Down: the target refused, answered with an error or took too long; its scrape time tells which. A bar "
            f"that ends: the target is no longer announced. Of many, the {MOST_ROWS} that were up least are shown."
        ),
    ),
    (
        Query(
            f"max by ({TARGET}) (up) and on ({TARGET}) bottomk({MOST_ROWS}, avg_over_time(up[$__range] @ end()))",
            "{{job}} {{instance}}",
        ),
    ),
    {1: ("up", palette.SILENT), 0: ("down", palette.FIRING)},
)

SCRAPES = lines(
    About(
        title="Duration of scrapes",
        question="Does any target answer slowly?",
        healthy="milliseconds, far below the scrape timeout of 4 s.",
        reading=(
            "Up to the timeout and then down: the target hangs. Slow but up: it has too little CPU. The ten slowest "
            "targets are shown."
        ),
    ),
    (Query(f"topk(10, max by ({TARGET}) (scrape_duration_seconds))", "{{job}} {{instance}}"),),
    unit="s",
    colours={},
    lowest=0,
)

PROBLEMS = bars(
    lines(
        About(
            title="Readings that were lost",
            question="Did a source fail, lie or skip?",
            healthy="empty.",
            reading=(
                "Errors: a source stopped giving good readings. Dropped: single readings that nobody could believe. "
                "Skipped: readings not taken, for the reason in the label."
            ),
        ),
        tuple(
            Query(
                f"sum by (source, reason) (increase(exporter_{metric}[{WINDOW}]))",
                f"{{{{source}}}} {name} {{{{reason}}}}",
            )
            for name, metric in (
                ("error:", "source_errors_total"),
                ("dropped:", "samples_dropped_total"),
                ("skipped:", "collect_skipped_total"),
            )
        ),
        unit="short",
        colours={},
        decimals=0,
        lowest=0,
    )
)

ENGINE = lines(
    About(
        title="The simulated job against the wall clock",
        question="Does the lab keep up?",
        healthy="both lines at 0.",
        reading=(
            "Lag: the engine is behind and catching up. Skipped: it gave seconds up, after the machine slept or had no "
            "CPU; the job's clock then jumps, and rates over that moment are too low."
        ),
    ),
    (
        Query("max(simulator_engine_lag_seconds)", "Lag"),
        Query(f"sum(increase(simulator_engine_skipped_seconds_total[{WINDOW}]))", "Skipped"),
    ),
    unit="s",
    colours={"Lag": palette.FIRST, "Skipped": palette.SECOND},
    lowest=0,
)

COST = lines(
    About(
        title="What measuring costs",
        question="Is the exporter cheap?",
        healthy="milliseconds.",
        reading="Time to take the readings of one tick, and to render all pages of one.",
    ),
    (
        Query("max by (source) (exporter_collect_seconds)", "Readings, {{source}}"),
        Query("max(exporter_scrape_duration_seconds)", "Pages"),
    ),
    unit="s",
    colours={"Pages": palette.SECOND},
    lowest=0,
)

SILENT_GPUS = table(
    About(
        title="GPUs without readings",
        question="Which GPU is missing, and why?",
        healthy="empty.",
        reading="`gpu_lost`: it fell off the bus (XID 79). Any other reason holds for all GPUs of its node.",
        empty="Every GPU gives readings, or nothing runs: `make lab`",
    ),
    (Column(name="Missing", expr=f"max by ({TARGET}, gpu, UUID, reason) (exporter_gpu_up == bool 0) > 0", decimals=0),),
    labels={"job": "Job", "instance": "Instance", "gpu": "GPU", "UUID": "UUID", "reason": "Reason"},
    sort_by="Instance",
    descending=False,
)

CPU = lines(
    About(
        title="CPU of the exporters",
        question="Do exporter and simulator have the CPU that they need?",
        healthy="far below 100 % of one core.",
    ),
    (Query(f"sum by ({TARGET}) (rate(process_cpu_seconds_total[{WINDOW}])) * {EXPORTER}", "{{job}} {{instance}}"),),
    unit="suffix: cores",
    colours={},
    lowest=0,
)

RESIDENT = lines(
    About(
        title="Memory of the exporters",
        question="Does an exporter leak?",
        healthy="flat after the first minute.",
    ),
    (Query(f"max by ({TARGET}) (process_resident_memory_bytes) * {EXPORTER}", "{{job}} {{instance}}"),),
    unit="bytes",
    colours={},
    lowest=0,
)

SIZE = lines(
    About(
        title="Size of the pages",
        question="Is more exported than was planned for?",
        healthy="flat; it grows with GPUs, nodes and runs only.",
    ),
    (Query("max(exporter_exposition_bytes)", "Before compression"),),
    unit="bytes",
    colours={"Before compression": palette.FIRST},
    lowest=0,
)

SAMPLES = lines(
    About(
        title="Samples of the scrapes",
        question="How many series does Prometheus take in?",
        healthy="flat, within the budget that METRICS.md states.",
        reading="It falls with GPUs or targets that vanish, and grows while two runs overlap.",
    ),
    (Query("sum by (job) (scrape_samples_scraped)", "{{job}}"),),
    unit="short",
    colours={},
    lowest=0,
)

FILES = lines(
    About(
        title="Open files of the exporters",
        question="Does an exporter run out of file descriptors?",
        healthy="flat, and far below 100 %.",
        empty="Only Linux counts them. Start a run with `make lab`",
    ),
    (
        Query(
            f"max by ({TARGET}) (process_open_fds / process_max_fds) * {EXPORTER}",
            "{{job}} {{instance}}",
        ),
    ),
    unit=RATIO,
    colours={},
)

VERSIONS = table(
    About(
        title="What runs",
        question="Which version, on which Python, since when?",
        healthy="one version everywhere.",
    ),
    (
        Column(
            name="Up for",
            expr=(
                f"max by ({TARGET}, version) (exporter_build_info * on ({TARGET}) group_left () "
                f"(time() - max by ({TARGET}) (process_start_time_seconds)))"
            ),
            unit="s",
            decimals=0,
        ),
    ),
    labels={"job": "Job", "instance": "Instance", "version": "Version"},
    sort_by="Up for",
)

BOARD = Board(
    title="Exporter and lab health",
    description="Whether what the other boards show can be believed: targets, sources, the engine, and their cost.",
    variables=(run_passed_on(),),
    panels=(
        Placed(SUMMARY, width=24, height=4),
        Placed(TARGETS, width=12, height=8),
        Placed(SCRAPES, width=12, height=8),
        Placed(PROBLEMS, width=12, height=7),
        Placed(ENGINE, width=12, height=7),
        Placed(COST, width=12, height=7),
        Placed(SILENT_GPUS, width=12, height=7),
    ),
    rows=(
        Row(
            "Processes",
            (
                Placed(CPU, width=8, height=7),
                Placed(RESIDENT, width=8, height=7),
                Placed(FILES, width=8, height=7),
                Placed(SIZE, width=8, height=7),
                Placed(SAMPLES, width=8, height=7),
                Placed(VERSIONS, width=8, height=7),
            ),
        ),
    ),
)
