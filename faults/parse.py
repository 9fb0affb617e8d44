"""Faults as people type them: `straggler:ranks=2+5,slowdown=1.8,intensity=moderate`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType

from faults import registry
from faults.checks import listed, show
from faults.errors import FaultError, Problem, pointer_to
from faults.kind import Kind
from faults.spec import INTENSITIES, FaultSpec


def _integer(text: str) -> object:
    return int(text) if re.fullmatch("[+-]?[0-9]{1,400}", text) else text


def _number(text: str) -> object:
    try:
        return text if "_" in text else _integer(text) if text.lstrip("+-").isdigit() else float(text)
    except ValueError:
        return text


def _boolean(text: str) -> object:
    return {"true": True, "false": False}.get(text, text)


def _intensity(text: str) -> object:
    return INTENSITIES.get(text) or _number(text)


def _indices(text: str) -> object:
    return [_integer(part) for part in text.split("+")]


Convert = Callable[[str], object]
"""Text to a JSON value; text that is none of that type stays text, and the check of the spec refuses it."""

TARGETS: Mapping[str, Convert] = MappingProxyType(
    {"ranks": _indices, "nodes": _indices, "count": _integer, "percent": _number, "target": str}
)
"""Keys that say who is hit; at most one of them may be given."""

COMMON: Mapping[str, Convert] = MappingProxyType(
    {
        "intensity": _intensity,
        "start_after_seconds": _number,
        "duration_seconds": _number,
        "ramp_up_seconds": _number,
        "ramp_down_seconds": _number,
        "shape": str,
        "period_seconds": _number,
        "duty": _number,
        "seed": _integer,
    }
)
"""Keys of the fault itself. Every other key is a parameter of its kind."""

_BY_TYPE: Mapping[str, Convert] = {"number": _number, "integer": _integer, "boolean": _boolean, "string": str}


def parse_fault(text: str) -> FaultSpec:
    """The fault that `kind:key=value,key=value` describes, active from the first step, open-ended unless it says else.

    Raises FaultError whose `str()` is one line with the key as typed and the valid values.
    """
    name, _, rest = text.partition(":")
    kind = registry.kind(name.strip())
    pairs = _pairs(rest, kind)
    target_key = next((key for key in TARGETS if key in pairs), "target")
    try:
        return FaultSpec.from_mapping(_mapping(kind, pairs, target_key))
    except FaultError as error:
        problems = [_as_typed(problem, target_key) for problem in error.problems]
        raise FaultError(problems, code=error.code) from None


def _pairs(text: str, kind: Kind) -> dict[str, str]:
    """The key=value pairs, all of known keys, none twice."""
    known = [*_params(kind), *TARGETS, *COMMON]
    pairs: dict[str, str] = {}
    for part in text.split(",") if text.strip() else []:
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals:
            raise FaultError.at("", f"{show(part)} is not key=value; keys of {kind.name}: {listed(known)}")
        if key not in known:
            meant = next((name for name in known if key and name.startswith(key)), None)
            hint = f" (did you mean {meant}?)" if meant else ""
            raise FaultError.at(pointer_to("", key), f"is not a key of {kind.name}{hint}; valid keys: {listed(known)}")
        if key in pairs:
            raise FaultError.at(pointer_to("", key), "is given twice")
        pairs[key] = value
    return pairs


def _mapping(kind: Kind, pairs: Mapping[str, str], target_key: str) -> dict[str, object]:
    params = _params(kind)
    mapping: dict[str, object] = {key: COMMON[key](value) for key, value in pairs.items() if key in COMMON}
    mapping["kind"] = kind.name
    mapping["params"] = {key: params[key](value) for key, value in pairs.items() if key in params}
    mapping["open_ended"] = "duration_seconds" not in pairs
    if target_key in pairs:
        mapping["target"] = _target(pairs, target_key)
    return mapping


def _target(pairs: Mapping[str, str], key: str) -> dict[str, object]:
    if len(pairs.keys() & TARGETS.keys()) > 1:
        raise FaultError.at(pointer_to("", key), f"must be the only one of {listed(TARGETS)}")
    if key != "target":
        return {"mode": key, "value": TARGETS[key](pairs[key])}
    if pairs[key] not in ("all", "one"):
        others = listed(other for other in TARGETS if other != "target")
        raise FaultError.at("/target", f"must be all or one, not {show(pairs[key])}; or use one of {others}")
    return {"mode": pairs[key]}


def _params(kind: Kind) -> dict[str, Convert]:
    return {param.name: _BY_TYPE[param.type] for param in kind.params}


def _as_typed(problem: Problem, target_key: str) -> Problem:
    """The problem under the key that was typed, which is not where JSON has it."""
    pointer, detail = problem.pointer.removeprefix("/params"), problem.detail
    if pointer.startswith("/target"):
        pointer = f"/{target_key}"
    if pointer == "/intensity":
        detail = detail.replace("a number", f"{listed(INTENSITIES)} or a number")
    return Problem(pointer, detail)
