"""Hypothesis strategies for faults of every kind that the registry has, a new one included."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from faults.admission import LEAST_INTENSITY
from faults.change import FaultChange
from faults.effects import Topology
from faults.errors import FaultError
from faults.kind import Kind, Param
from faults.record import NAME_PATTERN
from faults.registry import kinds
from faults.spec import FIELDS, SHAPE_KEYS, SHAPES, FaultSpec
from faults.target import MODES

relaxed = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
"""A slow machine fails nothing."""

TOPOLOGY = Topology(ranks=12, gpus_per_node=4, overlaps_nodes=True, scales_loss=True)

NAMES = st.from_regex(NAME_PATTERN, fullmatch=True).filter(lambda name: "\n" not in name)

_SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from([10**400, -(10**400), 2**64, 5.0])
    | st.floats()
    | st.text(st.characters(), max_size=20)
    | st.sampled_from(["\ud800", "x" * 600, *MODES, *kinds()])
)
_SHOWN = st.characters(exclude_categories=("Cs", "Cc")) | st.sampled_from("\t\n")
"""What a text for people may hold."""
_KEYS = st.sampled_from([*FIELDS, "mode", "value", "slowdown", "lateness_steps"]) | st.text(st.characters(), max_size=9)
JSON: st.SearchStrategy[Any] = st.recursive(
    _SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_KEYS, inner, max_size=6), max_leaves=12
)
"""Anything that a JSON body can hold, NaN, huge numbers and lone surrogates included."""


def param_values(param: Param) -> st.SearchStrategy[Any]:
    """Valid values of one parameter."""
    if param.choices:
        return st.sampled_from(param.choices)
    if param.type == "number":
        return st.floats(param.minimum, param.maximum, allow_nan=False, allow_infinity=False)
    if param.type == "integer":
        low, high = (None if bound is None else int(bound) for bound in (param.minimum, param.maximum))
        return st.integers(low, high)
    return st.booleans() if param.type == "boolean" else st.text("abc", max_size=5)


def targets(kind: Kind) -> st.SearchStrategy[Any]:
    """Valid targets of `kind` on TOPOLOGY, as JSON."""

    def some(count: int) -> st.SearchStrategy[list[int]]:
        return st.lists(st.integers(0, count - 1), min_size=1, unique=True)

    values: dict[str, st.SearchStrategy[Any]] = {
        "all": st.none(),
        "one": st.none(),
        "count": st.integers(1, TOPOLOGY.ranks),
        "percent": st.floats(0, 100, exclude_min=True),
        "ranks": some(TOPOLOGY.ranks),
        "nodes": st.none() | some(TOPOLOGY.nodes),
    }
    by_mode = [st.fixed_dictionaries({"mode": st.just(mode), "value": values[mode]}) for mode in kind.target_modes]
    return st.none() | st.one_of(by_mode)


_RAMPS = st.integers(0, 20) | st.floats(0, 3_600)
_SHAPE_VALUES: dict[str, st.SearchStrategy[Any]] = {
    "ramp_up_seconds": _RAMPS,
    "ramp_down_seconds": _RAMPS,
    "period_seconds": st.none() | st.integers(2, 20) | st.floats(2, 3_600),
    "duty": st.none() | st.floats(0.05, 0.95),
}


@st.composite
def mappings(draw: st.DrawFn) -> dict[str, Any]:
    """Valid faults as JSON."""
    kind = draw(st.sampled_from(list(kinds().values())))
    params = st.fixed_dictionaries({}, optional={param.name: param_values(param) for param in kind.params})
    mapping: dict[str, Any] = {"kind": kind.name, "params": draw(params), "target": draw(targets(kind))}
    mapping["intensity"] = draw(st.floats(LEAST_INTENSITY, 1))
    mapping["start_after_seconds"] = draw(st.integers(0, 20) | st.floats(0, 86_400))
    mapping["duration_seconds"] = draw(st.none() | st.integers(1, 30) | st.floats(0, 86_400, exclude_min=True))
    mapping["open_ended"] = mapping["duration_seconds"] is None
    mapping["shape"] = draw(st.sampled_from(SHAPES))
    for key in SHAPE_KEYS[mapping["shape"]]:
        mapping[key] = draw(_SHAPE_VALUES[key])
    mapping["seed"] = draw(st.none() | st.integers(0, 2**32 - 1))
    mapping["note"] = draw(st.text(_SHOWN, max_size=30))
    return mapping


def specs() -> st.SearchStrategy[FaultSpec]:
    """Valid faults."""
    return mappings().map(FaultSpec.from_mapping)


def lasting_specs() -> st.SearchStrategy[FaultSpec]:
    """Valid faults that are at their peak from the start and stay there until they are cleared."""
    at_once = {"start_after_seconds": 0, "duration_seconds": None, "open_ended": True, "shape": "step"}
    own = {key for keys in SHAPE_KEYS.values() for key in keys}
    return mappings().map(
        lambda mapping: FaultSpec.from_mapping({k: v for k, v in mapping.items() if k not in own} | at_once)
    )


def changes() -> st.SearchStrategy[FaultChange]:
    """Changes of live faults, some of which come too late for the fault."""
    ends = st.fixed_dictionaries({}, optional={"duration_seconds": st.integers(1, 40) | st.floats(0.1, 86_400)})
    others = st.fixed_dictionaries({}, optional={"intensity": st.floats(LEAST_INTENSITY, 1), "paused": st.booleans()})
    both = st.tuples(ends | st.just({"open_ended": True}), others)
    return both.map(lambda pair: FaultChange.from_mapping(pair[0] | pair[1]))


def check_report(error: FaultError) -> None:
    """What an API would send: one line, encodable, of bounded size, every pointer well-formed."""
    assert error.problems
    text = str(error)
    assert "\n" not in text
    text.encode()
    for problem in error.problems:
        assert problem.pointer == "" or problem.pointer.startswith("/")
        json.dumps([problem.pointer, problem.detail], ensure_ascii=False).encode()
        assert len(problem.pointer) + len(problem.detail) < 2_000
