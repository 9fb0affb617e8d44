"""The rules that every committed board keeps."""

from __future__ import annotations

import inspect
import itertools
import re
from pathlib import Path

import pytest

import build_dashboards
import build_rules
from boards_lib import palette
from diagnosis import thresholds
from exporter import catalogue
from tests.grafana.reading import FILES, Json, colours, load, panels, queries, substitute
from tests.promql import selection

CORE_TYPES = {
    "barchart",
    "bargauge",
    "gauge",
    "heatmap",
    "stat",
    "state-timeline",
    "status-history",
    "table",
    "text",
    "timeseries",
}
RATIO_MAXIMUM = {"percentunit": 1, "percent": 100}
RECORDED = {rule.record for rule in build_rules.RECORDINGS}

each_board = pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)


def test_there_are_boards() -> None:
    assert FILES


def test_the_committed_files_are_what_the_code_writes() -> None:
    assert build_dashboards.main(["--check"]) == 0


def test_a_changed_missing_or_foreign_file_fails_the_check(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(build_dashboards, "OUTPUT", tmp_path)
    assert build_dashboards.main(["--check"]) == 1
    (tmp_path / "foreign.json").write_text("{}")
    assert build_dashboards.main([]) == 0
    assert [path.name for path in sorted(tmp_path.iterdir())] == [path.name for path in FILES]
    (tmp_path / FILES[0].name).write_text("{}")
    capsys.readouterr()
    assert build_dashboards.main(["--check"]) == 1
    assert FILES[0].name in capsys.readouterr().err


@each_board
def test_board_settings(path: Path) -> None:
    board = load(path)
    assert board["uid"] == path.stem
    assert board["title"]
    assert board["description"]
    assert board["schemaVersion"] == 42
    assert board["editable"] is False
    assert board["graphTooltip"] == 1, "the crosshair is shared"
    assert board["refresh"] == "5s"
    assert "stepscope" in board["tags"]


@each_board
def test_the_first_variable_is_the_data_source_with_the_provisioned_default(path: Path) -> None:
    first, *others = load(path)["templating"]["list"]
    assert (first["type"], first["query"], first["name"]) == ("datasource", "prometheus", "datasource")
    assert first["current"]["value"] == "stepscope"
    assert all(other["datasource"]["uid"] == "${datasource}" for other in others)
    assert {other["name"] for other in others} >= {"run"}


@each_board
def test_at_most_eight_panels_are_in_view_and_rows_are_collapsed(path: Path) -> None:
    kinds = [panel["type"] for panel in load(path)["panels"]]
    in_view = list(itertools.takewhile(lambda kind: kind != "row", kinds))
    assert len(in_view) <= 8
    assert set(kinds[len(in_view) :]) <= {"row"}, "what follows a row belongs inside one"
    assert all(panel["collapsed"] for panel in load(path)["panels"] if panel["type"] == "row")


@each_board
def test_ids_are_set_and_panels_do_not_overlap(path: Path) -> None:
    board = load(path)
    ids = [panel["id"] for panel in (*board["panels"], *panels(board))]
    assert min(ids) > 0
    assert len(set(ids)) == len({panel["id"] for panel in board["panels"]} | {panel["id"] for panel in panels(board)})
    for group in (board["panels"], *(row["panels"] for row in board["panels"] if row["type"] == "row")):
        cells = [cell for panel in group for cell in _cells(panel["gridPos"])]
        assert len(cells) == len(set(cells))
        assert all(0 <= x < 24 for x, _ in cells)


def _cells(position: dict[str, int]) -> list[tuple[int, int]]:
    columns = range(position["x"], position["x"] + position["w"])
    return list(itertools.product(columns, range(position["y"], position["y"] + position["h"])))


@each_board
def test_each_panel_states_its_question_unit_and_source(path: Path) -> None:
    for panel in panels(load(path)):
        where = f"{path.stem}: {panel['title']}"
        assert panel["type"] in CORE_TYPES, where
        assert re.match(r"[^\n?]+\?\n\n\*\*Healthy:\*\* .+", panel["description"]), f"{where}: question, then healthy"
        assert panel["datasource"] == {"type": "prometheus", "uid": "${datasource}"}, where
        assert all(target["datasource"]["uid"] == "${datasource}" for target in panel["targets"]), where
        defaults = panel["fieldConfig"]["defaults"]
        assert defaults["unit"], where
        assert "make lab" in defaults["noValue"], f"{where}: the empty state says what to start"
        if defaults["unit"] in RATIO_MAXIMUM:
            assert (defaults["min"], defaults["max"]) == (0, RATIO_MAXIMUM[defaults["unit"]]), where


@each_board
def test_titles_are_unique(path: Path) -> None:
    titles = [panel["title"] for panel in panels(load(path))]
    assert len(titles) == len(set(titles))


@each_board
def test_queries_name_only_series_that_exist(path: Path) -> None:
    board = load(path)
    variables = {variable["name"]: "x" for variable in board["templating"]["list"][1:]}
    for panel in panels(board):
        for query in queries(panel):
            found = selection(substitute(query, **variables))
            unknown = {name for name in found.metrics if name not in RECORDED and catalogue.find(name) is None}
            assert not unknown, f"{path.stem}: {panel['title']}: {unknown}"
            assert not found.ranged & RECORDED, f"{panel['title']}: a recorded rate is not averaged again"


@each_board
def test_ranges_are_the_rate_interval(path: Path) -> None:
    for panel in panels(load(path)):
        for query in queries(panel):
            assert set(re.findall(r"\[([^\]]*)\]", query)) <= {"$__rate_interval", "$__range"}, query


@each_board
def test_every_series_is_of_the_chosen_run(path: Path) -> None:
    for panel in panels(load(path)):
        for query in queries(panel):
            assert 'run="$run"' in query, f"{panel['title']}: {query}"


@each_board
def test_thresholds_are_those_that_alerts_and_verdicts_use(path: Path) -> None:
    owned = {value for name, value in inspect.getmembers(thresholds) if name.isupper()}
    owned |= {value / 100 for name, value in inspect.getmembers(thresholds) if name.endswith("_PERCENT")}
    for panel in panels(load(path)):
        assert set(_threshold_values(panel["fieldConfig"])) <= owned, panel["title"]


def _threshold_values(value: object) -> list[float]:
    if isinstance(value, list):
        return [number for inner in value for number in _threshold_values(inner)]
    if not isinstance(value, dict):
        return []
    own = [step["value"] for step in value.get("steps", []) if step["value"] is not None]
    return own + [number for inner in value.values() for number in _threshold_values(inner)]


@each_board
def test_colours_come_from_the_palette(path: Path) -> None:
    named = {colour for name, colour in inspect.getmembers(palette) if name.isupper() and isinstance(colour, str)}
    allowed = named | set(palette.PHASES.values()) | {"transparent"}
    for panel in panels(load(path)):
        assert set(colours(panel)) <= allowed, panel["title"]


def test_variables_are_all_used() -> None:
    for path in FILES:
        board: Json = load(path)
        text = " ".join(query for panel in panels(board) for query in queries(panel))
        for variable in board["templating"]["list"][1:]:
            assert f"${variable['name']}" in text, f"{path.stem}: {variable['name']}"
