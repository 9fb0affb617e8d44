"""The rules that every query of every committed board keeps."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import pytest

import build_rules
from exporter import catalogue
from tests.grafana.reading import FILES, asked, drawn, load, placeholders, queries, substitute, variables
from tests.promql import selection

RECORDED = {rule.record for rule in build_rules.RECORDINGS}
PROMETHEUS_OWN = {"up", "scrape_duration_seconds", "scrape_samples_scraped", "ALERTS"}
"""What Prometheus itself writes about each target and each alert."""
WITHOUT_A_RUN = {"gpus", "exporter-and-lab-health", "instructor"}
"""Boards of things that are there without a run, or whatever the run."""
TRUTH = {family.name for family in catalogue.TRUTH_FAMILIES}

GPUS = next(path for path in FILES if path.stem == "gpus")

each_board = pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)


def everything_asked(path: Path) -> list[str]:
    """Every query of a board's panels, variables and annotations, ready to parse."""
    board = load(path)
    found = [query for panel in drawn(board) for query in queries(panel)]
    found += [asked(variable) for variable in variables(board)]
    found += [mark["expr"] for mark in board["annotations"]["list"]]
    return [substitute(query, **placeholders(board)) for query in found]


@each_board
def test_queries_name_only_series_that_exist(path: Path) -> None:
    for query in everything_asked(path):
        found = selection(query)
        unknown = {name for name in found.metrics - RECORDED - PROMETHEUS_OWN if catalogue.find(name) is None}
        assert not unknown, f"{unknown} in {query}"
        assert not found.ranged & RECORDED, f"a recorded rate is not averaged again: {query}"


def test_the_gpu_board_reads_dcgm_families_alone() -> None:
    """So that it works on a real dcgm-exporter without a training job."""
    dcgm = {name for family in catalogue.DCGM_FAMILIES for name in (family.name, *family.aliases)}
    for query in everything_asked(GPUS):
        assert selection(query).metrics <= dcgm, query


def test_only_the_instructors_board_reads_the_truth_and_nothing_else() -> None:
    for path in FILES:
        metrics = {name for query in everything_asked(path) for name in selection(query).metrics}
        assert metrics <= TRUTH if path.stem == "instructor" else not metrics & TRUTH, path.stem


def test_both_spellings_of_the_nodes_label_are_accepted() -> None:
    board = load(GPUS)
    for query in (query for panel in drawn(board) for query in queries(panel)):
        selectors = re.findall(r"\b(DCGM_\w+)(\{[^}]*\})?", query)
        assert selectors
        for metric, selector in selectors:
            assert 'Hostname=~"$node|", hostname=~"$node|", gpu=~"$gpu"' in selector, f"{metric} in {query}"


@each_board
def test_ranges_are_the_rate_interval(path: Path) -> None:
    for query in (query for panel in drawn(load(path)) for query in queries(panel)):
        assert set(re.findall(r"\[([^\]]*)\]", query)) <= {"$__rate_interval", "$__range"}, query


@each_board
def test_every_series_is_of_the_chosen_run(path: Path) -> None:
    for query in (query for panel in drawn(load(path)) for query in queries(panel)):
        assert (path.stem in WITHOUT_A_RUN) != bool('run="$run"' in query), query


@each_board
def test_gpus_are_joined_to_ranks_so_that_several_runs_and_nodes_are_valid(path: Path) -> None:
    """Info series on the many side, one value per UUID on the other: never an error, whoever names the GPU."""
    for query in (query for panel in drawn(load(path)) for query in queries(panel)):
        for join in re.finditer(r"(?<!and )on \(UUID\)", query):
            assert query[join.end() :].startswith(" group_left () max by (UUID) ("), query
            assert re.search(r"training_rank_info\{[^}]*\}( @ end\(\))? \* $", query[: join.start()]), query
        assert "group_right" not in query, query


@each_board
def test_a_choice_of_rows_is_the_same_at_every_moment(path: Path) -> None:
    """In a heatmap, `topk` alone would choose anew at each point in time and leave rows full of holes."""
    for panel in drawn(load(path)):
        if panel["type"] == "heatmap":
            for query in queries(panel):
                assert ("topk" in query or "bottomk" in query) == ("@ end()" in query), query


@each_board
def test_variables_are_chained_and_all_used(path: Path) -> None:
    board = load(path)
    names = [variable["name"] for variable in variables(board)]
    asked_for = " ".join(query for panel in drawn(board) for query in queries(panel))
    for index, variable in enumerate(variables(board)):
        assert f"${variable['name']}" in asked_for, variable["name"]
        assert f"${variable['name']}" not in asked(variable)
        known = set(re.findall(r"\$(\w+)", variable["query"]))
        assert known <= set(names[:index]), f"{variable['name']} is offered before what it depends on"
        assert index == 0 or names[index - 1] in known, f"{variable['name']} does not depend on the one before it"
        assert variable["refresh"] == 2, "asked again when the time changes"
        if variable["multi"]:
            assert (variable["allValue"], variable["current"]["value"]) == (".*", ["$__all"])


@each_board
def test_variables_that_take_several_values_are_matched_as_patterns(path: Path) -> None:
    board = load(path)
    several = [variable["name"] for variable in variables(board) if variable["multi"]]
    texts = [query for panel in drawn(board) for query in queries(panel)]
    texts += [variable["query"] for variable in variables(board)]
    for name, query in itertools.product(several, texts):
        for use in re.finditer(rf"\${name}\b", query):
            assert re.search(r'=~"$', query[: use.start()]), f"${name} in {query}"
