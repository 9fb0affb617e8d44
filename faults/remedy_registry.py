"""The remedies there are: every module of `faults.remedies` that has some, found by looking."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache

import faults.remedies
from faults.checks import listed, show
from faults.errors import FaultError
from faults.remedy import Remedy


@cache
def _found() -> dict[str, Remedy]:
    found: dict[str, Remedy] = {}
    for info in pkgutil.iter_modules(faults.remedies.__path__):
        module = importlib.import_module(f"{faults.remedies.__name__}.{info.name}")
        for entry in getattr(module, "REMEDIES", ()):
            assert isinstance(entry, Remedy), f"{module.__name__}: REMEDIES must hold instances of Remedy"
            assert entry.name not in found, f"{module.__name__}: there is another remedy called {entry.name}"
            found[entry.name] = entry
    return dict(sorted(found.items()))


def remedies() -> dict[str, Remedy]:
    """Every remedy by name, in the order of the names."""
    return dict(_found())


def remedy(name: object) -> Remedy:
    """The remedy called `name`. FaultError at /remedy, listing the valid names, when there is none."""
    found = _found()
    if isinstance(name, str) and name in found:
        return found[name]
    raise FaultError.at("/remedy", f"must be one of {listed(found)}, not {show(name)}")
