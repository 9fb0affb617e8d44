"""Panels that cannot be made without a title, a question, a healthy value, a unit and a text for "no data"."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from grafana_foundation_sdk.builders import common as build_common
from grafana_foundation_sdk.builders import dashboard as build_dashboard
from grafana_foundation_sdk.builders import stat, timeseries
from grafana_foundation_sdk.models import common, dashboard

from boards_lib import palette
from boards_lib.queries import DATASOURCE, Query

NO_DATA = "No run here yet: start one with `make lab` or `docker compose up`"
RATIO = "percentunit"


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """What a panel is for."""

    title: str
    question: str
    """What the reader wants to know, ending in a question mark."""
    healthy: str
    """What it shows when all is well."""
    reading: str = ""
    """How to read it when it does not."""

    @property
    def description(self) -> str:
        """The text behind the panel's i, in Markdown."""
        parts = (self.question, f"**Healthy:** {self.healthy}", self.reading)
        return "\n\n".join(part for part in parts if part)


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The two thresholds of a value that is good when it is high."""

    low: float
    healthy: float

    @property
    def steps(self) -> list[dashboard.Threshold]:
        """Bad below `low`, good from `healthy`."""
        steps = [dashboard.Threshold(value=None, color=palette.BAD)]
        if self.low < self.healthy:
            steps.append(dashboard.Threshold(value=self.low, color=palette.WARN))
        return [*steps, dashboard.Threshold(value=self.healthy, color=palette.GOOD)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tile:
    """One number of a row of tiles."""

    name: str
    expr: str
    limits: Limits | None = None
    """None: shown without judgement."""
    unit: str = RATIO
    decimals: int = 0

    @property
    def overrides(self) -> list[dashboard.DynamicConfigValue]:
        """What sets this tile apart from its panel's defaults."""
        steps = self.limits.steps if self.limits else _flat(palette.NEUTRAL)
        absolute = dashboard.ThresholdsConfig(mode=dashboard.ThresholdsMode.ABSOLUTE, steps=steps)
        values: dict[str, object] = {"thresholds": absolute, "decimals": self.decimals}
        if self.unit != RATIO:
            values |= {"unit": self.unit, "max": None}
        return [dashboard.DynamicConfigValue(id_val=key, value=value) for key, value in values.items()]


def tiles(about: About, numbers: Sequence[Tile]) -> stat.Panel:
    """Big numbers side by side, ratios unless a tile says otherwise."""
    panel = (
        stat.Panel()
        .title(about.title)
        .description(about.description)
        .datasource(DATASOURCE)
        .unit(RATIO)
        .min(0)
        .max(1)
        .no_value(NO_DATA)
        .thresholds(_thresholds(_flat(palette.NEUTRAL)))
        .color_scheme(build_dashboard.FieldColor().mode(dashboard.FieldColorModeId.THRESHOLDS))
        .color_mode(common.BigValueColorMode.VALUE)
        .graph_mode(common.BigValueGraphMode.AREA)
        .text_mode(common.BigValueTextMode.VALUE_AND_NAME)
        .orientation(common.VizOrientation.VERTICAL)
        .reduce_options(build_common.ReduceDataOptions().calcs(["lastNotNull"]).fields("").values(False))
    )
    for position, tile in enumerate(numbers):
        panel = panel.with_target(Query(tile.expr, tile.name).build(position))
        panel = panel.override_by_name(tile.name, tile.overrides)
    return panel


def lines(
    about: About,
    queries: Sequence[Query],
    *,
    unit: str,
    colours: Mapping[str, str],
    decimals: int | None = None,
    reference: float | None = None,
) -> timeseries.Panel:
    """Lines over time, coloured by legend name; `reference` draws a threshold line. Ratios run from 0 to 1."""
    panel = (
        timeseries.Panel()
        .title(about.title)
        .description(about.description)
        .datasource(DATASOURCE)
        .unit(unit)
        .no_value(NO_DATA)
        .line_width(2)
        .fill_opacity(8)
        .show_points(common.VisibilityMode.NEVER)
        .span_nulls(False)
        .color_scheme(_fixed(palette.NEUTRAL))
        .thresholds(_thresholds(_flat(palette.NEUTRAL)))
        .tooltip(build_common.VizTooltipOptions().mode(common.TooltipDisplayMode.MULTI).sort(common.SortOrder.NONE))
        .legend(_legend(common.LegendDisplayMode.LIST, common.LegendPlacement.BOTTOM))
    )
    if unit == RATIO:
        panel = panel.min(0).max(1)
    if decimals is not None:
        panel = panel.decimals(decimals)
    if reference is not None:
        panel = panel.thresholds(_thresholds([*_flat("transparent"), _step(reference, palette.NEUTRAL)]))
        style = build_common.GraphThresholdsStyleConfig().mode(common.GraphThresholdsStyleMode.DASHED)
        panel = panel.thresholds_style(style)
    for position, query in enumerate(queries):
        panel = panel.with_target(query.build(position))
    for name, colour in colours.items():
        panel = panel.override_by_name(name, [_colour(colour)])
    return panel


def shares(about: About, queries: Sequence[Query], *, colours: Mapping[str, str]) -> timeseries.Panel:
    """Shares of a whole, stacked from 0 to 100 % in the order of the queries, with their last values beside them."""
    return (
        lines(about, queries, unit=RATIO, colours=colours)
        .line_width(0)
        .fill_opacity(85)
        .stacking(build_common.StackingConfig().mode(common.StackingMode.NORMAL).group("A"))
        .legend(_legend(common.LegendDisplayMode.TABLE, common.LegendPlacement.RIGHT).calcs(["lastNotNull"]))
    )


def logarithmic(panel: timeseries.Panel) -> timeseries.Panel:
    """The same panel on a base-10 scale, for values that move by orders of magnitude."""
    scale = build_common.ScaleDistributionConfig().type(common.ScaleDistribution.LOG).log(10)
    return panel.scale_distribution(scale)


def _legend(display: common.LegendDisplayMode, placement: common.LegendPlacement) -> build_common.VizLegendOptions:
    return build_common.VizLegendOptions().show_legend(True).display_mode(display).placement(placement).calcs([])


def _colour(colour: str) -> dashboard.DynamicConfigValue:
    return dashboard.DynamicConfigValue(id_val="color", value={"mode": "fixed", "fixedColor": colour})


def _fixed(colour: str) -> build_dashboard.FieldColor:
    return build_dashboard.FieldColor().mode(dashboard.FieldColorModeId.FIXED).fixed_color(colour)


def _step(value: float | None, colour: str) -> dashboard.Threshold:
    return dashboard.Threshold(value=value, color=colour)


def _flat(colour: str) -> list[dashboard.Threshold]:
    return [_step(None, colour)]


def _thresholds(steps: list[dashboard.Threshold]) -> build_dashboard.ThresholdsConfig:
    return build_dashboard.ThresholdsConfig().mode(dashboard.ThresholdsMode.ABSOLUTE).steps(steps)
