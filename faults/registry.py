"""The kinds there are: every module of `faults.kinds`, found by looking."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache

import faults.kinds
from faults.checks import listed, show
from faults.errors import FaultError
from faults.kind import Kind, Param


@cache
def _found() -> dict[str, Kind]:
    modules = [
        importlib.import_module(f"{faults.kinds.__name__}.{info.name}")
        for info in pkgutil.iter_modules(faults.kinds.__path__)
        if not info.name.startswith("_")
    ]
    found: dict[str, Kind] = {}
    for module in modules:
        entry = getattr(module, "KIND", None)
        assert isinstance(entry, Kind), f"{module.__name__} must end in KIND = <an instance of Kind>"
        assert entry.name not in found, f"{module.__name__}: there is another kind called {entry.name}"
        found[entry.name] = entry
    return dict(sorted(found.items()))


def kinds() -> dict[str, Kind]:
    """Every kind by name, in the order of the names."""
    return dict(_found())


def kind(name: object) -> Kind:
    """The kind called `name`. FaultError at /kind, listing the valid names, when there is none."""
    found = _found()
    if isinstance(name, str) and name in found:
        return found[name]
    raise FaultError.at("/kind", f"must be one of {listed(found)}, not {show(name)}")


def params_schema(kind: Kind) -> dict[str, object]:
    """JSON Schema of the kind's `params`: ranges, defaults, choices, and units as `x-unit`."""
    properties = {param.name: param_schema(param) for param in kind.params}
    return {"type": "object", "properties": properties, "additionalProperties": False}


def param_schema(param: Param) -> dict[str, object]:
    """JSON Schema of one parameter."""
    schema: dict[str, object] = {"type": param.type, "description": param.description, "default": param.default}
    optional = {
        "minimum": param.minimum,
        "maximum": param.maximum,
        "enum": list(param.choices) or None,
        "x-unit": param.unit or None,
    }
    return schema | {key: value for key, value in optional.items() if value is not None}


def describe(kind: Kind) -> dict[str, object]:
    """The kind's catalogue entry, ready for JSON."""
    return {
        "kind": kind.name,
        "summary": kind.summary,
        "look_at": kind.look_at,
        "params": params_schema(kind),
        "default_target": kind.default_target_for(kind.default_params()).to_mapping(),
        "target_modes": list(kind.target_modes),
        "phases": list(kind.phases),
        "metrics": list(kind.metrics),
        "composition": kind.composition,
        "needs": list(kind.needs),
    }
