"""Big numbers side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from grafana_foundation_sdk.builders import common as build_common
from grafana_foundation_sdk.builders import stat
from grafana_foundation_sdk.models import common, dashboard

from boards_lib import palette
from boards_lib.about import About, Judgement
from boards_lib.queries import LAB, Query, Source
from boards_lib.style import RATIO, by_threshold, flat, setting, thresholds


@dataclass(frozen=True, slots=True, kw_only=True)
class Tile:
    """One number of a row of tiles."""

    name: str
    expr: str
    limits: Judgement | None = None
    """None: shown without judgement."""
    unit: str = RATIO
    decimals: int = 0
    source: Source = LAB

    @property
    def overrides(self) -> list[dashboard.DynamicConfigValue]:
        """What sets this tile apart from its panel's defaults."""
        steps = self.limits.steps if self.limits else flat(palette.NEUTRAL)
        absolute = dashboard.ThresholdsConfig(mode=dashboard.ThresholdsMode.ABSOLUTE, steps=steps)
        values: dict[str, object] = {"thresholds": absolute, "decimals": self.decimals}
        if self.unit != RATIO:
            values |= {"unit": self.unit, "max": None}
        return [setting(key, value) for key, value in values.items()]


def tiles(about: About, numbers: Sequence[Tile]) -> stat.Panel:
    """Big numbers side by side with their recent course, ratios unless a tile says otherwise."""
    panel = (
        stat.Panel()
        .title(about.title)
        .description(about.description)
        .links(about.links)
        .datasource(numbers[0].source.ref)
        .unit(RATIO)
        .min(0)
        .max(1)
        .no_value(about.empty)
        .thresholds(thresholds(flat(palette.NEUTRAL)))
        .color_scheme(by_threshold())
        .color_mode(common.BigValueColorMode.VALUE)
        .graph_mode(common.BigValueGraphMode.AREA)
        .text_mode(common.BigValueTextMode.VALUE_AND_NAME)
        .orientation(common.VizOrientation.VERTICAL)
        .reduce_options(build_common.ReduceDataOptions().calcs(["lastNotNull"]).fields("").values(False))
    )
    for position, tile in enumerate(numbers):
        panel = panel.with_target(Query(tile.expr, tile.name, source=tile.source).build(position))
        panel = panel.override_by_name(tile.name, tile.overrides)
    return panel
