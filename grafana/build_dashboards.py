"""Writes dashboards/*.json from the modules in boards/: `python grafana/build_dashboards.py [--check]`.

The JSON is the classic model (schema version 42), which file provisioning takes in every Grafana from 9.4 to 13.
"""

from __future__ import annotations

import argparse
import importlib
import json
import pkgutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from grafana_foundation_sdk.cog.encoder import JSONEncoder

import boards
from boards_lib.layout import Board

OUTPUT = Path(__file__).parent / "dashboards"


def find_boards() -> Iterator[tuple[str, Board]]:
    """Every board with its uid, in the order of their names. A module that starts with _ is part of another board."""
    for module in sorted(pkgutil.iter_modules(boards.__path__), key=lambda found: found.name):
        if module.name.startswith("_"):
            continue
        board = importlib.import_module(f"boards.{module.name}").BOARD
        assert isinstance(board, Board), f"{module.name}.BOARD is not a Board"
        yield module.name.replace("_", "-"), board


def render(uid: str, board: Board) -> str:
    """The board as JSON text, the same for the same code."""
    document = json.loads(JSONEncoder().encode(board.build(uid)))
    return json.dumps(_in_view(document), sort_keys=True, indent=2, ensure_ascii=False) + "\n"


def _in_view(value: object) -> object:
    """The document without the `placement` that the SDK gives every link and annotation.

    It moves them into a menu of their own, which leaves out the links that open as a dropdown: ours would be nowhere.
    """
    if isinstance(value, list):
        return [_in_view(inner) for inner in value]
    if not isinstance(value, dict):
        return value
    return {key: _in_view(inner) for key, inner in value.items() if (key, inner) != ("placement", "inControlsMenu")}


def main(arguments: Sequence[str] | None = None) -> int:
    """Writes the files, or with --check says whether they are what would be written (exit status 1 when not)."""
    parser = argparse.ArgumentParser(description="Write the Grafana boards.")
    parser.add_argument("--check", action="store_true", help="write nothing; fail when a file differs")
    check: bool = parser.parse_args(arguments).check
    wanted = {f"{uid}.json": render(uid, board) for uid, board in find_boards()}
    present = {path.name: path.read_text(encoding="utf-8") for path in OUTPUT.glob("*.json")}
    stale = sorted(name for name in wanted.keys() | present.keys() if wanted.get(name) != present.get(name))
    if check:
        for name in stale:
            print(f"{name} is not what build_dashboards.py writes: run `make dashboards`", file=sys.stderr)
        return 1 if stale else 0
    OUTPUT.mkdir(exist_ok=True)
    for name in stale:
        path = OUTPUT / name
        if name in wanted:
            path.write_text(wanted[name], encoding="utf-8")
        else:
            path.unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main())
