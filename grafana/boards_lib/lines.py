"""Panels of values over time."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from grafana_foundation_sdk.builders import common as build_common
from grafana_foundation_sdk.builders import timeseries
from grafana_foundation_sdk.models import common

from boards_lib import palette
from boards_lib.about import About
from boards_lib.queries import Query
from boards_lib.style import RATIO, colour, fixed, flat, legend, setting, shades, step, thresholds, tooltip

_DASH = {"fill": "dash", "dash": [8, 8]}


def lines(
    about: About,
    queries: Sequence[Query],
    *,
    unit: str,
    colours: Mapping[str, str],
    decimals: int | None = None,
    reference: float | None = None,
    dashed: Collection[str] = (),
    lowest: float | None = None,
) -> timeseries.Panel:
    """Lines over time, coloured by legend name; `reference` draws a threshold line, `lowest` holds the axis down to it.

    Ratios run from 0 to 1. Series whose names are not known before are shades of blue.
    """
    unknown = any("{{" in query.legend for query in queries)
    panel = (
        timeseries.Panel()
        .title(about.title)
        .description(about.description)
        .links(about.links)
        .datasource(queries[0].source.ref)
        .unit(unit)
        .no_value(about.empty)
        .line_width(2)
        .fill_opacity(8 if len(queries) <= 2 else 0)
        .show_points(common.VisibilityMode.NEVER)
        .span_nulls(False)
        .color_scheme(shades(palette.FIRST) if unknown else fixed(palette.NEUTRAL))
        .thresholds(thresholds(flat(palette.NEUTRAL)))
        .tooltip(tooltip())
        .legend(legend())
    )
    if unit == RATIO:
        panel = panel.min(0).max(1)
    elif lowest is not None:
        panel = panel.min(lowest)
    if decimals is not None:
        panel = panel.decimals(decimals)
    if reference is not None:
        panel = panel.thresholds(thresholds([*flat("transparent"), step(reference, palette.NEUTRAL)]))
        panel = panel.thresholds_style(
            build_common.GraphThresholdsStyleConfig().mode(common.GraphThresholdsStyleMode.DASHED)
        )
    for position, query in enumerate(queries):
        panel = panel.with_target(query.build(position))
    for name, value in colours.items():
        style = [setting("custom.lineStyle", _DASH), setting("custom.fillOpacity", 0)] if name in dashed else []
        panel = panel.override_by_name(name, [colour(value), *style])
    return panel


def shares(about: About, queries: Sequence[Query], *, colours: Mapping[str, str]) -> timeseries.Panel:
    """Shares of a whole, stacked from 0 to 100 % in the order of the queries, with their last values beside them."""
    return stacked(about, queries, unit=RATIO, colours=colours)


def stacked(about: About, queries: Sequence[Query], *, unit: str, colours: Mapping[str, str]) -> timeseries.Panel:
    """Parts of a whole, stacked in the order of the queries, with their last values beside them."""
    table = legend(common.LegendDisplayMode.TABLE, common.LegendPlacement.RIGHT)
    return (
        lines(about, queries, unit=unit, colours=colours, lowest=0)
        .line_width(0)
        .fill_opacity(85)
        .stacking(build_common.StackingConfig().mode(common.StackingMode.NORMAL).group("A"))
        .legend(table.calcs(["lastNotNull"]))
    )


def logarithmic(panel: timeseries.Panel) -> timeseries.Panel:
    """The same panel on a base-10 scale, for values that move by orders of magnitude."""
    scale = build_common.ScaleDistributionConfig().type(common.ScaleDistribution.LOG).log(10)
    return panel.scale_distribution(scale)


def bars(panel: timeseries.Panel) -> timeseries.Panel:
    """The same panel with a bar per interval, for counts of events."""
    return panel.draw_style(common.GraphDrawStyle.BARS).fill_opacity(80).line_width(1)
