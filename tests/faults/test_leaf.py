from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

import faults

FILES = sorted(Path(faults.__file__).parent.rglob("*.py"))


@pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])
def test_imports_numpy_the_standard_library_and_itself_only(path: Path) -> None:
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add(node.module or "faults")
    # Files that people write are YAML, and read in one place.
    edge = {"yaml"} if path.stem == "scenario_files" else set()
    assert {name.partition(".")[0] for name in names} <= {*sys.stdlib_module_names, "numpy", "faults"} | edge
