"""Reads boards as Grafana would: panels, queries with their variables, colours."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / "grafana" / "dashboards").glob("*.json"))

Json = dict[str, Any]

RANGE_SECONDS = 120
BUILT_IN = {"$__rate_interval": "20s", "$__range": f"{RANGE_SECONDS}s", "$__interval": "5s"}
"""What Grafana puts in with a scrape interval of 5 s and this time range."""

LOOKUP = re.compile(r"label_values\((?P<metric>\w+)(?P<selector>\{.*\})?, (?P<label>\w+)\)")
"""A variable that asks for the values of a label."""
RESULT = re.compile(r"query_result\((?P<expr>.*)\)")
"""A variable that asks for the result of a query, as text."""


def load(path: Path) -> Json:
    """The dashboard in a file."""
    board: Json = json.loads(path.read_text(encoding="utf-8"))
    return board


def panels(board: Json) -> Iterator[Json]:
    """Every panel, those inside rows included, rows themselves left out."""
    for panel in board["panels"]:
        if panel["type"] == "row":
            yield from panel["panels"]
        else:
            yield panel


def drawn(board: Json) -> Iterator[Json]:
    """Every panel that shows data: texts are left out."""
    return (panel for panel in panels(board) if panel["type"] != "text")


def queries(panel: Json) -> Iterator[str]:
    """The panel's PromQL with its variables still in it."""
    for target in panel.get("targets", []):
        yield target["expr"]


def variables(board: Json) -> list[Json]:
    """The board's variables that ask Prometheus for their options: not its data source, nor what it only passes on."""
    return [variable for variable in board["templating"]["list"] if variable["type"] == "query"]


def asked(variable: Json) -> str:
    """The PromQL in a variable's query."""
    if result := RESULT.fullmatch(variable["query"]):
        return result["expr"]
    lookup = LOOKUP.fullmatch(variable["query"])
    assert lookup is not None, f"a variable of another form: {variable['query']}"
    return f"{lookup['metric']}{lookup['selector'] or ''}"


def substitute(expr: str, **values: str) -> str:
    """The query as Grafana sends it, with its own variables and the board's `values` put in."""
    for name, value in {**BUILT_IN, **{f"${key}": value for key, value in values.items()}}.items():
        expr = expr.replace(name, value)
    assert "$" not in expr, f"a variable is left in {expr}"
    return expr


def placeholders(board: Json) -> dict[str, str]:
    """A value for each variable of the board, for who only wants to parse its queries."""
    return {variable["name"]: "x" for variable in variables(board)}


def colours(value: object) -> Iterator[str]:
    """Every colour that a part of a board sets, wherever it stands."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if key in {"color", "fixedColor", "iconColor"} and isinstance(inner, str):
                yield inner
            yield from colours(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from colours(inner)


def thresholds_in(value: object) -> Iterator[float]:
    """Every threshold that a part of a board sets."""
    if isinstance(value, dict):
        yield from (step["value"] for step in value.get("steps", []) if step["value"] is not None)
        for inner in value.values():
            yield from thresholds_in(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from thresholds_in(inner)
