"""Every query of every committed board against a real Prometheus, healthy and under each kind of fault.

Queries are sent as Grafana sends them: with the variables filled from what they offer, over a range or for one moment
as the panel asks. Each returns data, or is listed with a reason in board_gaps.py.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from faults.registry import kinds
from tests.grafana.reading import FILES, LOOKUP, RESULT, Json, drawn, load, substitute, variables
from tests.stack import large_job
from tests.stack.board_gaps import DCGM, GAPS, gap
from tests.stack.gallery import BROKEN, DCGM_HOST, HEALTHY, SCENES, Gallery, Scene, gallery
from tests.stack.real import eventually
from tests.stack.servers import Prometheus

pytestmark = pytest.mark.stack

INSTRUCTOR = "instructor"
LEARNERS = [path for path in FILES if path.stem != INSTRUCTOR]
BOARDS = {path.stem: path for path in FILES}
WINDOW_SECONDS = 20
"""Range that a query over time is asked for: four scrapes, all of them under the fault."""

each_scene = pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.name)
each_board = pytest.mark.parametrize("path", LEARNERS, ids=lambda path: path.stem)


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gallery]:
    """The running gallery."""
    with gallery(tmp_path_factory.mktemp("gallery")) as running:
        yield running


def offered(prometheus: Prometheus, variable: Json, chosen: Mapping[str, str]) -> list[str]:
    """The options that Grafana would list for a variable, given those before it."""
    query = substitute(variable["query"], **chosen)
    if result := RESULT.fullmatch(query):
        shape = re.compile(variable["regex"].strip("/"))
        lines = [
            str(dict(labels)).replace("': '", '="').replace("'", '"') for labels in prometheus.vector(result["expr"])
        ]
        return sorted({match[1] for line in lines if (match := shape.search(line))})
    lookup = LOOKUP.fullmatch(query)
    assert lookup is not None, query
    selector = f"{lookup['metric']}{lookup['selector'] or ''}"
    values: list[str] = prometheus.api(f"label/{lookup['label']}/values", **{"match[]": selector})
    return values


def choices(prometheus: Prometheus, board: Json, scene: Scene, *, take: int) -> dict[str, str]:
    """A value for each variable: everything, or the first `take` options, as Grafana writes them into a query.

    Where a board has no run to choose, the scene is chosen by its nodes.
    """
    chosen: dict[str, str] = {}
    for variable in variables(board):
        name, options = variable["name"], offered(prometheus, variable, chosen)
        if name == "run":
            assert scene.name in options
            chosen[name] = scene.name
            continue
        by_nodes = name == "node" and "run" not in chosen
        if by_nodes:
            options = [node for node in options if node.startswith(nodes_of(scene))]
        assert options, f"nothing to choose for {name}"
        if take:
            options = options[:take]
        chosen[name] = _alternatives(options) if take or by_nodes else ".*"
    return chosen


def nodes_of(scene: Scene) -> str:
    """What the names of a scene's nodes begin with."""
    return DCGM_HOST if scene == DCGM else f"{scene.name}-node-"


def _alternatives(values: list[str]) -> str:
    return values[0] if len(values) == 1 else f"({'|'.join(values)})"


def shortfalls(prometheus: Prometheus, path: Path, scene: Scene, chosen: dict[str, str], *, at: float) -> list[str]:
    """Queries that return nothing without being listed, or something although they are listed as surely empty."""
    found = []
    for panel in drawn(load(path)):
        for target in panel["targets"]:
            expr = substitute(target["expr"], **chosen)
            listed = gap(scene, path.stem, panel["title"], target["legendFormat"])
            there = has_data(prometheus, expr, over_time=target["range"], at=at)
            if there and listed and listed.sure:
                found.append(f"{panel['title']}: has data, though {listed.why}: {expr}")
            elif not there and not listed:
                found.append(f"{panel['title']}: nothing for {expr}")
    return found


def has_data(prometheus: Prometheus, expr: str, *, over_time: bool, at: float) -> bool:
    """Whether a query has a value that a panel can draw. An error or a warning of Prometheus fails the test."""
    if over_time:
        answer = prometheus.answer("query_range", query=expr, start=at - WINDOW_SECONDS, end=at, step=5)
    else:
        answer = prometheus.answer("query", query=expr, time=at)
    assert not answer.get("warnings"), f"{expr}: {answer['warnings']}"
    samples = [sample for series in answer["data"]["result"] for sample in series.get("values", [series.get("value")])]
    return any(math.isfinite(float(value)) for _, value in samples)


def complete(prometheus: Prometheus, path: Path, scene: Scene, *, take: int = 0) -> bool | None:
    """Whether the board shows all that it should; raises what it lacks."""
    chosen = choices(prometheus, load(path), scene, take=take)
    lacking = shortfalls(prometheus, path, scene, chosen, at=time.time())
    assert not lacking, "\n".join(lacking)
    return True


@each_board
@each_scene
def test_every_query_returns_data_or_is_listed(shown: Gallery, scene: Scene, path: Path) -> None:
    eventually(f"{path.stem} in {scene.name}", lambda: complete(shown.prometheus, path, scene), within=30)


@pytest.mark.parametrize("take", [1, 2])
@pytest.mark.parametrize("name", ["ranks", "input-and-storage", "network-and-collectives", "gpus"])
@pytest.mark.parametrize("scene", HEALTHY, ids=lambda scene: scene.name)
def test_a_choice_of_one_or_two_returns_data_too(shown: Gallery, scene: Scene, name: str, take: int) -> None:
    eventually(name, lambda: complete(shown.prometheus, BOARDS[name], scene, take=take), within=30)


def test_the_gpu_board_works_on_a_dcgm_exporter_with_a_lower_case_label(shown: Gallery) -> None:
    board = load(BOARDS["gpus"])
    nodes = offered(shown.prometheus, variables(board)[0], {})
    assert {DCGM_HOST, "healthy-node-00"} <= set(nodes), "both spellings are offered"
    assert complete(shown.prometheus, BOARDS["gpus"], DCGM)


def test_the_instructors_board_is_quiet_before_the_faults_and_names_each_of_them_after(shown: Gallery) -> None:
    path = BOARDS[INSTRUCTOR]
    assert not shortfalls(shown.answers, path, HEALTHY[0], {}, at=shown.healthy_at)
    assert not shortfalls(shown.answers, path, BROKEN[0], {}, at=time.time())
    (marks,) = load(path)["annotations"]["list"]
    named = {dict(labels)["kind"] for labels in shown.answers.vector(marks["expr"])}
    assert named == set(kinds())


@pytest.mark.parametrize("kind", ["straggler", "io_starvation"])
def test_training_alerts_see_what_traditional_ones_do_not(shown: Gallery, kind: str) -> None:
    """The two panels of The trap, side by side."""
    (scene,) = (scene for scene in BROKEN if scene.kind == kind)
    panels = {panel["title"]: panel for panel in drawn(load(BOARDS["the-trap"]))}

    def raised(title: str) -> float:
        (summary, _) = panels[title]["targets"]
        return shown.prometheus.value(substitute(summary["expr"], run=scene.name))

    eventually("a training alert fires", lambda: raised("What training alerts say") == 2 or None, within=60)
    assert raised("What traditional alerts say") < 2, "fires nothing"


def test_the_learners_prometheus_does_not_know_the_answers(shown: Gallery) -> None:
    names = shown.prometheus.api("label/__name__/values")
    assert not [name for name in names if name.startswith("lab_")]


def test_of_a_large_job_the_same_ranks_are_shown_all_the_time_and_the_culprit_is_among_them(shown: Gallery) -> None:
    board, now = load(BOARDS["ranks"]), time.time()
    chosen = {"run": large_job.RUN, "node": ".*", "rank": ".*"}
    maps = {panel["title"]: panel for panel in drawn(board) if panel["type"] == "heatmap"}
    for title in ("Work per step, rank by rank", "Time in collectives beyond the least, rank by rank"):
        (target,) = maps[title]["targets"]
        found = shown.prometheus.api(
            "query_range", query=substitute(target["expr"], **chosen), start=now - WINDOW_SECONDS, end=now, step=5
        )["result"]
        assert len(found) == 64, f"{title}: {len(found)} of {large_job.RANKS} ranks"
        assert len({len(series["values"]) for series in found}) == 1, "no row comes and goes"
        last = {series["metric"]["rank"]: float(series["values"][-1][1]) for series in found}
        extreme = max if title.startswith("Work") else min
        assert extreme(last, key=lambda rank: last[rank]) == str(large_job.SLOW_RANK), title


def test_nothing_is_listed_that_no_board_asks() -> None:
    for entry in GAPS:
        panels = {panel["title"]: panel for panel in drawn(load(BOARDS[entry.board]))}
        legends = {target["legendFormat"] for target in panels[entry.panel]["targets"]}
        assert entry.legend in legends | {""}, f"{entry.board}: {entry.panel}: {entry.legend}"
        assert any(entry.where(scene) for scene in (*SCENES, DCGM)), entry.why
