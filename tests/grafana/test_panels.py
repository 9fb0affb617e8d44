"""What each kind of panel must have to draw what is meant, in Grafana 9.4 as in 13."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.grafana.reading import FILES, Json, drawn, load, panels

KNOWN: dict[str, set[str]] = {
    "heatmap": {
        "calculate",
        "cellGap",
        "cellValues",
        "color",
        "exemplars",
        "filterValues",
        "legend",
        "rowsFrame",
        "showValue",
        "tooltip",
        "yAxis",
    },
    "stat": {"colorMode", "graphMode", "justifyMode", "orientation", "reduceOptions", "textMode"},
    "state-timeline": {"alignValue", "legend", "mergeValues", "rowHeight", "showValue", "tooltip"},
    "table": {"footer", "frameIndex", "showHeader", "showTypeIcons", "sortBy"},
    "text": {"content", "mode"},
    "timeseries": {"legend", "tooltip"},
}
"""Options that Grafana 9.4 knows."""
LATER: dict[str, set[str]] = {
    "heatmap": {"selectionMode"},
    "stat": {"percentChangeColorMode", "showPercentChange", "wideLayout"},
    "state-timeline": {"perPage"},
    "table": {"cellHeight"},
}
"""Options that came later, at the values that older versions behave as: those ignore them."""
SETTINGS = {"color", "custom.cellOptions", "custom.displayMode", "custom.fillOpacity", "custom.lineStyle"}
SETTINGS |= {"decimals", "max", "thresholds", "unit"}
"""What an override may set."""

each_board = pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)


def of_type(path: Path, kind: str) -> Iterator[Json]:
    """The board's panels of one type."""
    return (panel for panel in panels(load(path)) if panel["type"] == kind)


@each_board
def test_options_are_known(path: Path) -> None:
    for panel in panels(load(path)):
        kind = panel["type"]
        assert set(panel["options"]) <= KNOWN[kind] | LATER.get(kind, set()), panel["title"]


@each_board
def test_overrides_set_known_properties_of_series_that_exist(path: Path) -> None:
    for panel in drawn(load(path)):
        legends = {target["legendFormat"] for target in panel["targets"]}
        renamed = {
            name
            for transformation in panel.get("transformations", [])
            for name in transformation["options"].get("renameByName", {}).values()
        }
        templated = any("{{" in legend for legend in legends)
        for override in panel["fieldConfig"]["overrides"]:
            assert override["matcher"]["id"] == "byName"
            assert templated or override["matcher"]["options"] in legends | renamed, panel["title"]
            assert {entry["id"] for entry in override["properties"]} <= SETTINGS, panel["title"]


@each_board
def test_queries_are_asked_in_the_form_that_the_panel_draws(path: Path) -> None:
    for panel in drawn(load(path)):
        references = [target["refId"] for target in panel["targets"]]
        assert len(references) == len(set(references))
        for target in panel["targets"]:
            assert target["instant"] is (panel["type"] == "table"), panel["title"]
            assert target["range"] is (panel["type"] != "table"), panel["title"]
            assert (target.get("format") == "table") == (panel["type"] == "table"), panel["title"]
            assert target["legendFormat"] or panel["type"] == "table", f"{panel['title']}: a series without a name"


@each_board
def test_heatmaps_show_every_cell_that_says_something(path: Path) -> None:
    for panel in of_type(path, "heatmap"):
        options, (target,) = panel["options"], panel["targets"]
        assert options["calculate"] is False
        assert options["cellValues"]["unit"] == panel["fieldConfig"]["defaults"]["unit"]
        if target.get("format") == "heatmap":
            assert target["legendFormat"] == "{{le}}"
            assert "sum by (le)" in target["expr"]
            assert options["yAxis"]["unit"] == "s"
        else:
            assert options["filterValues"]["le"] < 0, "the default leaves out cells of 0, which name the culprit"
            assert options["rowsFrame"]["layout"] == "unknown", "a row is a thing, not a bucket"


@each_board
def test_tables_join_their_columns(path: Path) -> None:
    for panel in of_type(path, "table"):
        merge, organize = panel["transformations"]
        assert (merge["id"], organize["id"]) == ("merge", "organize")
        names = organize["options"]["renameByName"]
        values = [name for name in names if name.startswith("Value")]
        one = len(panel["targets"]) == 1
        assert values == (["Value"] if one else [f"Value #{target['refId']}" for target in panel["targets"]])
        assert organize["options"]["excludeByName"] == {"Time": True}
        assert set(organize["options"]["indexByName"]) == set(names)
        (order,) = panel["options"]["sortBy"]
        assert order["displayName"] in names.values()


@each_board
def test_states_have_words_for_their_values(path: Path) -> None:
    for panel in of_type(path, "state-timeline"):
        (mapping,) = panel["fieldConfig"]["defaults"]["mappings"]
        assert all(state["text"] and state["color"] for state in mapping["options"].values())
        indices = [state["index"] for state in mapping["options"].values()]
        assert sorted(indices) == list(range(len(indices)))


@each_board
def test_lines_that_share_a_panel_differ_in_colour(path: Path) -> None:
    for panel in of_type(path, "timeseries"):
        fixed = [
            entry["value"]["fixedColor"]
            for override in panel["fieldConfig"]["overrides"]
            for entry in override["properties"]
            if entry["id"] == "color"
        ]
        assert all(one != other for one, other in itertools.combinations(fixed, 2)), panel["title"]
