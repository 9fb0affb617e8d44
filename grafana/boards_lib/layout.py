"""A board from its panels: positions, ids, variables, and the settings that every board has in common."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from grafana_foundation_sdk.builders import dashboard as build
from grafana_foundation_sdk.builders import stat, timeseries
from grafana_foundation_sdk.models import dashboard

from boards_lib.queries import DATASOURCE, DATASOURCE_UID

COLUMNS = 24

PanelBuilder = timeseries.Panel | stat.Panel


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
    variables: tuple[build.QueryVariable, ...] = field(default_factory=lambda: (run_variable(),))
    window: str = "now-15m"

    def build(self, uid: str) -> dashboard.Dashboard:
        """The dashboard in the classic model."""
        ids = iter(range(1, 1000))
        board = (
            build.Dashboard(self.title)
            .uid(uid)
            .description(self.description)
            .tags(["stepscope"])
            .readonly()
            .timezone("browser")
            .tooltip(dashboard.DashboardCursorSync.CROSSHAIR)
            .time(self.window, "now")
            .refresh("5s")
            .annotations([])
            .with_variable(datasource_variable())
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


def datasource_variable() -> build.DatasourceVariable:
    """Which Prometheus to read; the provisioned one unless the reader picks another."""
    return (
        build.DatasourceVariable("datasource")
        .label("Data source")
        .type("prometheus")
        .current(dashboard.VariableOption(selected=True, text=DATASOURCE_UID, value=DATASOURCE_UID))
    )


def run_variable() -> build.QueryVariable:
    """Which run to look at, the newest name first."""
    query = "label_values(training_run_info, run)"
    return (
        build.QueryVariable("run")
        .label("Run")
        .datasource(DATASOURCE)
        .query(query)
        .definition(query)
        .refresh(dashboard.VariableRefresh.ON_TIME_RANGE_CHANGED)
        .sort(dashboard.VariableSort.ALPHABETICAL_DESC)
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
