"""States over time: one bar per series, coloured and named by its value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from grafana_foundation_sdk.builders import statetimeline
from grafana_foundation_sdk.models import common, dashboard

from boards_lib import palette
from boards_lib.about import About
from boards_lib.queries import Query
from boards_lib.style import by_threshold, flat, legend, thresholds, tooltip

State = tuple[str, str]
"""Text and colour of a value."""


def states(about: About, queries: Sequence[Query], named: Mapping[int, State]) -> statetimeline.Panel:
    """One bar per series; `named` gives the text and the colour of each whole value."""
    options = {
        str(value): dashboard.ValueMappingResult(text=text, color=colour, index=index)
        for index, (value, (text, colour)) in enumerate(named.items())
    }
    panel = (
        statetimeline.Panel()
        .title(about.title)
        .description(about.description)
        .links(about.links)
        .datasource(queries[0].source.ref)
        .unit("none")
        .no_value(about.empty)
        .mappings([dashboard.ValueMap(options=options)])
        .thresholds(thresholds(flat(palette.NEUTRAL)))
        .color_scheme(by_threshold())
        .merge_values(True)
        .show_value(common.VisibilityMode.AUTO)
        .align_value(common.TimelineValueAlignment.LEFT)
        .row_height(0.8)
        .fill_opacity(85)
        .line_width(0)
        .tooltip(tooltip())
        .legend(legend())
    )
    for position, query in enumerate(queries):
        panel = panel.with_target(query.build(position))
    return panel
