"""A fifth kind, made by dropping one file where the kinds are."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import faults.kinds
from faults import registry

ADD_KIND = """
from faults.kind import Kind, Param

class Fake(Kind):
    name = "{name}"
    summary = look_at = composition = "Made for a test."
    params = (Param("strength", "integer", 2, "", "Any.", minimum=1), Param("on", "boolean", True, "", "Any."),
              Param("label", "string", "", "", "Any."))
    needs = {needs!r}

    def apply(self, effects, application):
        effects.compute_slowdown[application.ranks] *= 1 + application.number("strength") * application.intensity

KIND = Fake()
"""

AddKind = Callable[..., None]


@pytest.fixture
def add_kind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[AddKind]:
    """Adds a kind for the length of one test: one file, nothing else."""
    monkeypatch.setattr(faults.kinds, "__path__", [*faults.kinds.__path__, str(tmp_path)])

    def add(name: str = "fake", *, needs: tuple[str, ...] = (), source: str = ADD_KIND) -> None:
        (tmp_path / f"{name}.py").write_text(source.format(name=name, needs=needs))
        registry._found.cache_clear()

    yield add
    registry._found.cache_clear()
    for path in tmp_path.glob("*.py"):
        sys.modules.pop(f"faults.kinds.{path.stem}", None)
