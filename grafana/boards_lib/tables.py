"""Tables: one row per series, one column per query, joined on the labels that the queries share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from grafana_foundation_sdk.builders import common as build_common
from grafana_foundation_sdk.builders import table as build_table
from grafana_foundation_sdk.models import common, dashboard

from boards_lib import palette
from boards_lib.about import About, Judgement
from boards_lib.queries import LAB, Query, Source
from boards_lib.style import by_threshold, flat, setting, thresholds


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column of values."""

    name: str
    expr: str
    """Its labels, apart from those that the table names, must be the same in every column."""
    unit: str = "short"
    decimals: int = 1
    limits: Judgement | None = None
    """None: shown without judgement."""
    source: Source = LAB

    @property
    def overrides(self) -> list[dashboard.DynamicConfigValue]:
        """Unit, decimals and, with limits, the colour of the text."""
        settings = [setting("unit", self.unit), setting("decimals", self.decimals)]
        if self.limits is None:
            return settings
        steps = dashboard.ThresholdsConfig(mode=dashboard.ThresholdsMode.ABSOLUTE, steps=self.limits.steps)
        return [
            *settings,
            setting("thresholds", steps),
            setting("custom.cellOptions", {"type": "color-text"}),
            setting("custom.displayMode", "color-text"),  # the same for Grafana 9.4, which does not know cellOptions
        ]


def table(
    about: About, columns: Sequence[Column], *, labels: Mapping[str, str], sort_by: str, descending: bool = True
) -> build_table.Panel:
    """A table of one moment: `labels` names the shown labels' columns, the rest of the labels are dropped."""
    panel = (
        build_table.Panel()
        .title(about.title)
        .description(about.description)
        .links(about.links)
        .datasource(columns[0].source.ref)
        .unit("short")
        .no_value(about.empty)
        .thresholds(thresholds(flat(palette.NEUTRAL)))
        .color_scheme(by_threshold())
        .align(common.FieldTextAlignment.AUTO)
        .show_header(True)
        .cell_height(common.TableCellHeight.SM)
        .sort_by([build_common.TableSortByFieldState().display_name(sort_by).desc(descending)])
        .transformations(_joined(columns, labels))
    )
    for position, column in enumerate(columns):
        panel = panel.with_target(Query(column.expr, "", form="table", source=column.source).build(position))
        panel = panel.override_by_name(column.name, column.overrides)
    return panel


def _joined(columns: Sequence[Column], labels: Mapping[str, str]) -> list[dashboard.DataTransformerConfig]:
    values = ["Value"] if len(columns) == 1 else [f"Value #{chr(ord('A') + i)}" for i in range(len(columns))]
    names = dict(labels) | {value: column.name for value, column in zip(values, columns, strict=True)}
    organize = {
        "excludeByName": {"Time": True},
        "indexByName": {name: index for index, name in enumerate(names)},
        "renameByName": names,
    }
    return [
        dashboard.DataTransformerConfig(id_val="merge", options={}),
        dashboard.DataTransformerConfig(id_val="organize", options=organize),
    ]
