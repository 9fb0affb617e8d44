"""The causes there are: every module of `diagnosis.causes`, found by looking."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache

import diagnosis.causes
from diagnosis.cause import Cause


@cache
def causes() -> dict[str, Cause]:
    """Every cause by name, in the order of the names."""
    found: dict[str, Cause] = {}
    for info in pkgutil.iter_modules(diagnosis.causes.__path__):
        if info.name.startswith("_"):
            continue
        module = importlib.import_module(f"{diagnosis.causes.__name__}.{info.name}")
        for entry in module.CAUSES:
            assert isinstance(entry, Cause), f"{module.__name__}: CAUSES holds something that is no Cause"
            assert entry.name not in found, f"{module.__name__}: there is another cause called {entry.name}"
            found[entry.name] = entry
    return dict(sorted(found.items()))
