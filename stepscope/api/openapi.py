"""`python -m stepscope.api.openapi [--check]`: write openapi.json, or fail when it is not what the code says."""

from __future__ import annotations

import argparse
import difflib
import json
import sys
from pathlib import Path

from exporter.pages import Pages
from simulator.engine import Engine
from simulator.presets import DEFAULT_PRESET, preset
from stepscope.api.app import create_app
from stepscope.api.document import document
from stepscope.api.lab import Lab
from stepscope.api.settings import Settings

FILE = Path(__file__).parents[2] / "openapi.json"


def text() -> str:
    """The document as it is committed."""
    engine = Engine(preset(DEFAULT_PRESET), seed=0)
    app = create_app(Lab(engine, Pages(engine), Settings()))
    return json.dumps(document(app), indent=2, ensure_ascii=False) + "\n"


def main(arguments: list[str] | None = None) -> int:
    """Exit status 1 when `--check` finds a difference."""
    parser = argparse.ArgumentParser(prog="python -m stepscope.api.openapi", description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    wanted = text()
    if not parser.parse_args(arguments).check:
        FILE.write_text(wanted, encoding="utf-8")
        return 0
    found = FILE.read_text(encoding="utf-8") if FILE.exists() else ""
    difference = list(
        difflib.unified_diff(found.splitlines(), wanted.splitlines(), str(FILE.name), "the code", lineterm="", n=2)
    )
    if difference:
        sys.stderr.write("\n".join(difference[:80]) + "\n")
        sys.stderr.write("openapi.json is out of date: run python -m stepscope.api.openapi\n")
    return 1 if difference else 0


if __name__ == "__main__":
    raise SystemExit(main())
