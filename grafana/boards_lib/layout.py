"""A board from its panels: positions, ids, variables, links, and the settings that every board has in common."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from grafana_foundation_sdk.builders import dashboard as build
from grafana_foundation_sdk.builders import heatmap, stat, statetimeline, table, text, timeseries
from grafana_foundation_sdk.models import dashboard

from boards_lib.queries import LAB, Source
from boards_lib.variables import run_variable, source_variable

COLUMNS = 24
TAG = "stepscope"
"""Tag of every board that a learner may open; the boards' menu lists these."""

PanelBuilder = timeseries.Panel | stat.Panel | heatmap.Panel | statetimeline.Panel | table.Panel | text.Panel


@dataclass(frozen=True, slots=True)
class Placed:
    """A panel with its size in grid units; panels flow from left to right, then down."""

    panel: PanelBuilder
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class Row:
    """A collapsed row: what a reader opens when the panels above made a question."""

    title: str
    panels: tuple[Placed, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Board:
    """One board. Its uid comes from its module's name, so that a link to it survives a new title."""

    title: str
    description: str
    panels: tuple[Placed, ...]
    """In view at once; at most eight."""
    rows: tuple[Row, ...] = ()
    variables: tuple[build.QueryVariable | build.TextBoxVariable, ...] = field(
        default_factory=lambda: (run_variable(),)
    )
    source: Source = LAB
    tag: str = TAG
    annotations: tuple[build.AnnotationQuery, ...] = ()
    window: str = "now-15m"

    def build(self, uid: str) -> dashboard.Dashboard:
        """The dashboard in the classic model."""
        ids = iter(range(1, 1000))
        board = (
            build.Dashboard(self.title)
            .uid(uid)
            .description(self.description)
            .tags([self.tag])
            .readonly()
            .timezone("browser")
            .tooltip(dashboard.DashboardCursorSync.CROSSHAIR)
            .time(self.window, "now")
            .refresh("5s")
            .annotations(list(self.annotations))
            .link(_menu())
            .with_variable(source_variable(self.source))
        )
        for variable in self.variables:
            board = board.with_variable(variable)
        bottom = 0
        for placed, position in _flow(self.panels, bottom):
            board = board.with_panel(placed.panel.id(next(ids)).grid_pos(position))
            bottom = max(bottom, position.y + position.h)
        for row in self.rows:
            board = board.with_row(_row(row, bottom, ids))
            bottom += 1
        return board.build()


def _menu() -> build.DashboardLink:
    """The other boards, opened at the same time and with the same variables."""
    return (
        build.DashboardLink("Boards")
        .type(dashboard.DashboardLinkType.DASHBOARDS)
        .tags([TAG])
        .as_dropdown(True)
        .include_vars(True)
        .keep_time(True)
    )


def _row(row: Row, top: int, ids: Iterator[int]) -> build.Row:
    builder = build.Row(row.title).id(next(ids)).collapsed(True).grid_pos(dashboard.GridPos(h=1, w=COLUMNS, x=0, y=top))
    for placed, position in _flow(row.panels, top + 1):
        builder = builder.with_panel(placed.panel.id(next(ids)).grid_pos(position))
    return builder


def _flow(panels: tuple[Placed, ...], top: int) -> Iterator[tuple[Placed, dashboard.GridPos]]:
    x, y, tallest = 0, top, 0
    for placed in panels:
        if x + placed.width > COLUMNS:
            x, y, tallest = 0, y + tallest, 0
        yield placed, dashboard.GridPos(h=placed.height, w=placed.width, x=x, y=y)
        x, tallest = x + placed.width, max(tallest, placed.height)
