"""Reads boards as Grafana would: panels, queries with their variables, colours."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / "grafana" / "dashboards").glob("*.json"))

Json = dict[str, Any]

_VARIABLES = {"$__rate_interval": "20s", "$__range": "900s", "$__interval": "5s"}
"""What Grafana puts in with a scrape interval of 5 s."""


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


def queries(panel: Json) -> Iterator[str]:
    """The panel's PromQL with its variables still in it."""
    for target in panel.get("targets", []):
        yield target["expr"]


def substitute(expr: str, **values: str) -> str:
    """The query as Grafana sends it, with its own variables and the board's `values` put in."""
    for name, value in {**_VARIABLES, **{f"${key}": value for key, value in values.items()}}.items():
        expr = expr.replace(name, value)
    assert "$" not in expr, f"a variable is left in {expr}"
    return expr


def colours(value: object) -> Iterator[str]:
    """Every colour that a part of a board sets, wherever it stands."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if key in {"color", "fixedColor"} and isinstance(inner, str):
                yield inner
            yield from colours(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from colours(inner)
