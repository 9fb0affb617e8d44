"""Heatmaps: many series as rows of cells, and a histogram over time."""

from __future__ import annotations

from dataclasses import replace

from grafana_foundation_sdk.builders import common as build_common
from grafana_foundation_sdk.builders import heatmap
from grafana_foundation_sdk.models import common
from grafana_foundation_sdk.models.heatmap import HeatmapColorMode

from boards_lib import palette
from boards_lib.about import About
from boards_lib.queries import Query
from boards_lib.style import RATIO

_SHOW_ALL = -1.0
_HIDE_EMPTY = 1e-9
"""Grafana leaves out cells at or below this value. Its default would hide the 0 that names a culprit."""


def rows(about: About, query: Query, *, unit: str, decimals: int, top_down: bool = True) -> heatmap.Panel:
    """One row of cells for each series, the first on top. A legend that is a number puts the rows in its order."""
    panel = _panel(about, query, unit=unit, decimals=decimals, hide_up_to=_SHOW_ALL)
    axis = heatmap.YAxisConfig().axis_placement(common.AxisPlacement.LEFT).reverse(top_down)
    return panel.y_axis(axis).rows_frame(heatmap.RowsHeatmapOptions().layout(common.HeatmapCellLayout.UNKNOWN))


def buckets(about: About, query: Query, *, unit: str) -> heatmap.Panel:
    """A classic histogram over time; `query` sums its buckets by `le`, and `unit` is that of the bounds."""
    panel = _panel(about, replace(query, form="buckets"), unit="short", decimals=1, hide_up_to=_HIDE_EMPTY)
    return panel.y_axis(heatmap.YAxisConfig().axis_placement(common.AxisPlacement.LEFT).unit(unit))


def _panel(about: About, query: Query, *, unit: str, decimals: int, hide_up_to: float) -> heatmap.Panel:
    colour = (
        heatmap.HeatmapColorOptions()
        .mode(HeatmapColorMode.SCHEME)
        .scheme(palette.RAMP)
        .steps(64)
        .fill(palette.FIRST)  # this and the exponent are for another mode, which gets sensible values too
        .exponent(0.5)
    )
    if unit == RATIO:
        colour = colour.min(0).max(1)
    panel = (
        heatmap.Panel()
        .title(about.title)
        .description(about.description)
        .links(about.links)
        .datasource(query.source.ref)
        .unit(unit)
        .no_value(about.empty)
        .calculate(False)
        .color(colour)
        .filter_values(heatmap.FilterValueRange().le(hide_up_to))
        .show_value(common.VisibilityMode.NEVER)
        .cell_gap(1)
        .cell_values(heatmap.CellValues().unit(unit).decimals(decimals))
        .tooltip(heatmap.HeatmapTooltip().mode(common.TooltipDisplayMode.SINGLE).show_color_scale(True))
        .show_legend()
        .exemplars_color(palette.SECOND)  # no query asks for exemplars; without a colour the panel would choose one
        .scale_distribution(build_common.ScaleDistributionConfig().type(common.ScaleDistribution.LINEAR))
        .with_target(query.build(0))
    )
    return panel.min(0).max(1) if unit == RATIO else panel
