"""Instructor: which faults act. Reads the answers alone, and is the only board that does."""

from __future__ import annotations

from grafana_foundation_sdk.builders import dashboard as build

from boards_lib import palette
from boards_lib.about import NO_ANSWERS, About
from boards_lib.formulas import WINDOW
from boards_lib.layout import Board, Placed
from boards_lib.lines import bars, lines
from boards_lib.notes import note
from boards_lib.queries import ANSWERS, Query
from boards_lib.states import states
from boards_lib.tables import Column, table
from boards_lib.tiles import Tile, tiles

WHICH = "name, kind, target"
ACTING = f"max by ({WHICH}) (lab_fault_active) > 0"
EVENTS_SO_FAR = "sum by (kind, event) (lab_fault_events_total)"
CHANGES = (
    f"clamp_min({EVENTS_SO_FAR} - (sum by (kind, event) (lab_fault_events_total offset {WINDOW})"
    f" or 0 * {EVENTS_SO_FAR}), 0)"
)
"""Events of the window. `increase` would miss the first of each kind, whose series begins at 1."""

NOTE = note(
    "For the instructor",
    "This board shows the answers of an exercise. It reads the data source *stepscope-answers* alone, which only the "
    "Grafana of the profile `answers` has: in the learners' Grafana this board stays empty. No other board reads that "
    "source, and no other board marks faults.",
)

SUMMARY = tiles(
    About(
        title="Now",
        question="Does a fault act?",
        healthy="no faults.",
        reading="Intensity runs from 0 to 1: mild is 0.25, moderate 0.5, severe 1. A ramp passes through all of them.",
        empty=NO_ANSWERS,
    ),
    (
        Tile(
            name="Faults acting",
            expr=f"count({ACTING}) or 0 * count(lab_run_info)",
            unit="none",
            source=ANSWERS,
        ),
        Tile(
            name="Highest intensity",
            expr="max(lab_fault_active) or 0 * count(lab_run_info)",
            source=ANSWERS,
        ),
        Tile(name="Runs", expr="count(count by (run) (lab_run_info))", unit="none", source=ANSWERS),
    ),
)

FAULTS = states(
    About(
        title="Faults over time",
        question="Which fault acted when, and how strongly?",
        healthy="one bar, quiet.",
        reading="Steps of a quarter: up to mild, up to moderate, beyond. Without a bar a fault does not act.",
        empty=NO_ANSWERS,
    ),
    (
        Query("0 * max(lab_run_info)", "lab", source=ANSWERS),
        Query(f"ceil(4 * (max by ({WHICH}) (lab_fault_active)))", "{{kind}}: {{name}} on {{target}}", source=ANSWERS),
    ),
    {
        0: ("quiet", palette.SILENT),
        1: ("mild", palette.MILD),
        2: ("moderate", palette.WARN),
        3: ("severe", palette.BAD),
        4: ("severe", palette.BAD),
    },
)

NOW = table(
    About(
        title="Acting now",
        question="What is broken, where, and how badly?",
        healthy="empty.",
        reading="The target is what the fault resolved to: the ranks or nodes that it hits.",
        empty="No fault acts, or no answers: `docker compose --profile answers up`",
    ),
    (Column(name="Intensity", expr=ACTING, unit="percentunit", decimals=0, source=ANSWERS),),
    labels={"kind": "Kind", "name": "Name", "target": "Target"},
    sort_by="Intensity",
)

EVENTS = bars(
    lines(
        About(
            title="Changes of state",
            question="When did a fault start, change or end?",
            healthy="empty between exercises.",
            reading="Counted by the lab, so that a change between two scrapes is not missed.",
            empty="No fault has changed yet, or no answers: `docker compose --profile answers up`",
        ),
        (Query(CHANGES, "{{kind}} {{event}}", source=ANSWERS),),
        unit="short",
        colours={},
        decimals=0,
        lowest=0,
    )
)

RUNS = table(
    About(
        title="Runs",
        question="Which preset and seed is behind a run?",
        healthy="one row for each lab that is scraped.",
        reading="The same preset, seed and faults give the same numbers again.",
        empty=NO_ANSWERS,
    ),
    (
        Column(
            name="Running", expr="max by (run, preset, seed) (lab_run_info)", unit="none", decimals=0, source=ANSWERS
        ),
    ),
    labels={"run": "Run", "preset": "Preset", "seed": "Seed"},
    sort_by="Run",
)

MARKS = (
    build.AnnotationQuery()
    .name("Faults")
    .datasource(ANSWERS.ref)
    .enable(True)
    .hide(False)
    .icon_color(palette.BAD)
    .expr(ACTING)
    .title_format("{{kind}}")
    .text_format("{{name}} on {{target}}")
    .tag_keys("kind,name")
    .step("5s")
)

BOARD = Board(
    title="Instructor",
    description="The answers: which faults act, on what, how strongly, and behind which run.",
    source=ANSWERS,
    tag="stepscope-instructor",
    variables=(),
    annotations=(MARKS,),
    panels=(
        Placed(NOTE, width=14, height=4),
        Placed(SUMMARY, width=10, height=4),
        Placed(FAULTS, width=24, height=9),
        Placed(NOW, width=12, height=8),
        Placed(EVENTS, width=12, height=8),
        Placed(RUNS, width=24, height=6),
    ),
)
