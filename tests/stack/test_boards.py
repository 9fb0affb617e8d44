"""Every query of every committed board, with its variables as Grafana fills them, against a real Prometheus."""

from __future__ import annotations

import math
import re
from functools import partial
from pathlib import Path

import pytest

from tests.grafana.reading import FILES, load, panels, queries, substitute
from tests.stack.conftest import Stage
from tests.stack.real import eventually
from tests.stack.servers import Prometheus

pytestmark = pytest.mark.stack


def label_values(prometheus: Prometheus, query: str) -> list[str] | None:
    """What Grafana's `label_values(metric, label)` offers; None for nothing."""
    found = re.fullmatch(r"label_values\((?:(?P<metric>[^,]+),\s*)?(?P<label>\w+)\)", query)
    assert found is not None, f"a variable of another form: {query}"
    match = {"match[]": found["metric"]} if found["metric"] else {}
    values: list[str] = prometheus.api(f"label/{found['label']}/values", **match)
    return values or None


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_query_returns_data(stage: Stage, path: Path) -> None:
    board, prometheus = load(path), stage.prometheus
    run = stage.film.state()["run"]["run"]
    chosen = {"run": run}
    for variable in board["templating"]["list"][1:]:
        offered = partial(label_values, prometheus, variable["query"])
        options = eventually(f"options of {variable['name']}", offered, within=60)
        chosen.setdefault(variable["name"], options[0])
        assert chosen[variable["name"]] in options
    for panel in panels(board):
        for query in queries(panel):
            expr = substitute(query, **chosen)
            eventually(f"{panel['title']}: {expr}", partial(some_data, prometheus, expr), within=90)


def some_data(prometheus: Prometheus, expr: str) -> bool | None:
    """Whether a query has a value that a panel can draw."""
    return any(math.isfinite(value) for value in prometheus.vector(expr).values()) or None


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_no_query_earns_a_warning(stage: Stage, path: Path) -> None:
    """An info is expected on DCGM counters, whose names lack `_total`; a warning is a mistake in the query."""
    run = stage.film.state()["run"]["run"]
    for panel in panels(load(path)):
        for query in queries(panel):
            answer = stage.prometheus.answer("query", query=substitute(query, run=run))
            assert not answer.get("warnings"), f"{panel['title']}: {answer['warnings']}"
