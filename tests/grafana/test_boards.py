"""The rules that every committed board keeps: settings, layout, texts, looks. Its queries are in test_queries.py."""

from __future__ import annotations

import inspect
import itertools
import re
from pathlib import Path

import pytest

import build_dashboards
from boards_lib import palette
from boards_lib.layout import TAG
from boards_lib.queries import ANSWERS, LAB
from diagnosis import thresholds
from tests.grafana.reading import FILES, colours, drawn, load, panels, thresholds_in, variables

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
INSTRUCTOR = "instructor"

each_board = pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)


def test_every_board_of_the_map_is_there() -> None:
    assert {path.stem for path in FILES} == {
        "the-trap",
        "step-anatomy",
        "ranks",
        "gpus",
        "input-and-storage",
        "network-and-collectives",
        "learning",
        "exporter-and-lab-health",
        INSTRUCTOR,
    }


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
    assert (TAG in board["tags"]) == (path.stem != INSTRUCTOR), "the boards' menu lists what learners may open"


@each_board
def test_the_first_variable_is_the_data_source_with_the_provisioned_default(path: Path) -> None:
    board = load(path)
    source = ANSWERS if path.stem == INSTRUCTOR else LAB
    first = board["templating"]["list"][0]
    assert (first["type"], first["query"], first["name"]) == ("datasource", "prometheus", source.variable)
    assert first["current"]["value"] == source.uid
    reference = {"type": "prometheus", "uid": f"${{{source.variable}}}"}
    assert all(other["datasource"] == reference for other in variables(board))
    for panel in drawn(board):
        assert panel["datasource"] == reference, panel["title"]
        assert all(target["datasource"] == reference for target in panel["targets"]), panel["title"]


def test_a_run_survives_the_way_through_every_board_that_learners_open() -> None:
    for path in FILES:
        board = load(path)
        passed = [variable for variable in board["templating"]["list"] if variable["type"] == "textbox"]
        names = [variable["name"] for variable in board["templating"]["list"]]
        assert names.count("run") == (path.stem != INSTRUCTOR), path.stem
        assert all((variable["name"], variable["hide"]) == ("run", 2) for variable in passed), path.stem


def test_the_answers_stay_on_the_instructors_board() -> None:
    """An exercise's board must not contain its answer, nor be handed it by a link that passes variables on."""
    assert ANSWERS.variable != LAB.variable
    for path in FILES:
        text, board = path.read_text(encoding="utf-8"), load(path)
        if path.stem == INSTRUCTOR:
            assert f"${{{LAB.variable}}}" not in text
            (marks,) = board["annotations"]["list"]
            assert marks["datasource"]["uid"] == ANSWERS.ref.uid
            assert board["templating"]["list"][0]["regex"] == f"/^{ANSWERS.uid}$/", "no other source is offered"
        else:
            assert ANSWERS.uid not in text, path.stem
            assert f"${{{ANSWERS.variable}}}" not in text, path.stem
            assert "lab_fault" not in text, path.stem
            assert board["annotations"]["list"] == [], path.stem


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
    rows = [panel for panel in board["panels"] if panel["type"] == "row"]
    ids = [panel["id"] for panel in (*rows, *panels(board))]
    assert min(ids) > 0
    assert len(ids) == len(set(ids))
    for group in (board["panels"], *(row["panels"] for row in rows)):
        cells = [cell for panel in group for cell in _cells(panel["gridPos"])]
        assert len(cells) == len(set(cells))
        assert all(0 <= x < 24 for x, _ in cells)


def _cells(position: dict[str, int]) -> list[tuple[int, int]]:
    columns = range(position["x"], position["x"] + position["w"])
    return list(itertools.product(columns, range(position["y"], position["y"] + position["h"])))


@each_board
def test_each_panel_states_its_question_and_unit(path: Path) -> None:
    for panel in drawn(load(path)):
        where = f"{path.stem}: {panel['title']}"
        assert panel["type"] in CORE_TYPES, where
        assert re.match(r"[^\n?]+\?\n\n\*\*Healthy:\*\* [^\n]+\.(\n\n|$)", panel["description"]), (
            f"{where}: question, then healthy"
        )
        defaults = panel["fieldConfig"]["defaults"]
        assert defaults["unit"], where
        assert re.search(r"`(make|docker compose) [^`]+`", defaults["noValue"]), f"{where}: what to start"
        if defaults["unit"] in RATIO_MAXIMUM:
            assert (defaults["min"], defaults["max"]) == (0, RATIO_MAXIMUM[defaults["unit"]]), where


@each_board
def test_texts_are_not_empty(path: Path) -> None:
    for panel in panels(load(path)):
        if panel["type"] == "text":
            assert panel["options"]["mode"] == "markdown"
            assert len(panel["options"]["content"]) > 100, panel["title"]


@each_board
def test_titles_are_unique(path: Path) -> None:
    titles = [panel["title"] for panel in panels(load(path))]
    assert len(titles) == len(set(titles))


@each_board
def test_links_keep_time_and_variables_and_lead_to_boards(path: Path) -> None:
    board = load(path)
    (menu,) = board["links"]
    assert (menu["type"], menu["tags"], menu["keepTime"], menu["includeVars"]) == ("dashboards", [TAG], True, True)
    for link in (link for panel in panels(board) for link in panel.get("links", [])):
        found = re.fullmatch(r"/d/([a-z-]+)\?\$\{__url_time_range\}&\$\{__all_variables\}", link["url"])
        assert found, link["url"]
        assert found[1] in {file.stem for file in FILES} - {path.stem, INSTRUCTOR}
    assert "inControlsMenu" not in path.read_text(encoding="utf-8"), "a dropdown in that menu is shown nowhere"


@each_board
def test_thresholds_are_those_that_alerts_and_verdicts_use(path: Path) -> None:
    owned = {value for name, value in inspect.getmembers(thresholds) if name.isupper()}
    owned |= {value / 100 for name, value in inspect.getmembers(thresholds) if name.endswith("_PERCENT")}
    for panel in drawn(load(path)):
        assert set(thresholds_in(panel["fieldConfig"])) <= owned, panel["title"]


@each_board
def test_colours_come_from_the_palette(path: Path) -> None:
    named = [value for name, value in inspect.getmembers(palette) if name.isupper()]
    allowed = {value for value in named if isinstance(value, str)} | {"transparent"}
    allowed |= {colour for value in named if isinstance(value, dict) for colour in value.values()}
    board = load(path)
    for panel in panels(board):
        assert set(colours(panel)) <= allowed, panel["title"]
    assert set(colours(board["annotations"])) <= allowed
