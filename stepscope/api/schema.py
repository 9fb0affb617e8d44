"""JSON Schema of a fault as it may be put, from the registry and the limits. The checks themselves stay in `faults`."""

from __future__ import annotations

from faults.admission import LEAST_INTENSITY
from faults.checks import TEXT_PATTERN, Range
from faults.kind import Kind
from faults.registry import kinds, params_schema
from faults.spec import INTENSITIES, LIMITS, MAX_NOTE, NULLABLE, SHAPE_DEFAULTS, SHAPE_KEYS, SHAPES, Shape
from faults.target import Mode
from stepscope.api.body import MAX_INTEGER

Json = dict[str, object]

EXAMPLES: Json = {
    "starve": {
        "summary": "Starve the input",
        "value": {"kind": "io_starvation", "params": {"mode": "tail"}, "intensity": 1.0, "duration_seconds": 300},
    },
    "straggler": {
        "summary": "Slow rank 2 down",
        "value": {"kind": "straggler", "target": {"mode": "ranks", "value": [2]}, "open_ended": True},
    },
}

CHANGES: Json = {
    "milder": {"summary": "Less of it", "value": {"intensity": 0.25}},
    "longer": {"summary": "Ten minutes from its start", "value": {"duration_seconds": 600}},
    "pause": {"summary": "Stop it for a while", "value": {"paused": True}},
}

_RANGES = {**LIMITS, "intensity": Range(LEAST_INTENSITY, 1)}
_WORDS = ", ".join(f"{word} is {value:g}" for word, value in INTENSITIES.items())
_ABOUT = {
    "intensity": f"How much of the kind's effect, at the peak; {_WORDS}.",
    "start_after_seconds": "Delay from now.",
    "duration_seconds": "From the start, ramp-up included. Required unless open_ended is true.",
    "ramp_up_seconds": "Time from nothing to the full intensity.",
    "ramp_down_seconds": "Time from the full intensity to nothing once the fault ends.",
    "period_seconds": "Time from one peak to the next. The run looks at it once per second.",
    "duty": "Share of each period that it is on, its first part.",
    "seed": "Fixes every random choice of this fault; left out, it follows from the run's seed and the fault's name.",
}
_SHAPES = (
    "linear and exponential have ramps, straight or with most of the way first; step has none; sine swings between "
    "nothing and the whole intensity; flap is on for a part of each period."
)
_DEFAULTS = {"intensity": 1.0, "start_after_seconds": 0.0, "ramp_up_seconds": 0.0, "ramp_down_seconds": 0.0}


def fault_write() -> Json:
    """A fault: one of the kinds."""
    return {
        "title": "FaultWrite",
        "description": "A fault to put: a kind with its parameters, whom it hits, how strongly and when.",
        "oneOf": [{"$ref": f"#/components/schemas/{component(kind)}"} for kind in kinds().values()],
        "discriminator": {
            "propertyName": "kind",
            "mapping": {name: f"#/components/schemas/{component(kind)}" for name, kind in kinds().items()},
        },
    }


def component(kind: Kind) -> str:
    """Name of the kind's schema under `components`."""
    return "FaultWrite_" + kind.name


def components() -> dict[str, Json]:
    """Every schema that `fault_write` needs, itself included."""
    faults = {component(kind): _fault_of(kind) for kind in kinds().values()}
    return {"FaultWrite": fault_write(), "FaultChange": fault_change()} | faults


def fault_change() -> Json:
    """A change of a live fault."""
    properties: Json = {
        "intensity": _number(_RANGES["intensity"], kind="number") | {"description": _ABOUT["intensity"]},
        "duration_seconds": _number(LIMITS["duration_seconds"], kind="number")
        | {"description": "From the start, ramp-up included: it must not have passed.", "x-unit": "seconds"},
        "open_ended": {"type": "boolean", "description": "Lasts until it is cleared; false needs a duration."},
        "paused": {"type": "boolean", "description": "Acts on nothing, and its schedule stands still."},
    }
    return {
        "title": "FaultChange",
        "description": "What to change of a live fault; what is left out stays as it is.",
        "type": "object",
        "properties": properties,
        "additionalProperties": False,
        "anyOf": [
            {"properties": {"open_ended": {"const": False}}, "required": ["duration_seconds"]},
            {"properties": {"open_ended": {"const": True}, "duration_seconds": False}},
        ],
    }


def _fault_of(kind: Kind) -> Json:
    properties: Json = {
        "kind": {"const": kind.name},
        "params": params_schema(kind),
        "target": {
            "description": "Whom it hits; left out or null, the kind's default.",
            "oneOf": [{"type": "null"}, *(target_schema(mode) for mode in kind.target_modes)],
        },
        "open_ended": {"type": "boolean", "default": False, "description": "Lasts until it is cleared."},
        "shape": {"type": "string", "enum": list(SHAPES), "default": "linear", "description": _SHAPES},
        "note": {
            "type": "string",
            "maxLength": MAX_NOTE,
            "pattern": TEXT_PATTERN,
            "default": "",
            "description": "For people.",
        },
    }
    properties |= {name: _limited(name) for name in LIMITS}
    return {
        "title": f"A fault of kind {kind.name}",
        "description": kind.summary,
        "type": "object",
        "properties": properties,
        "required": ["kind"],
        "additionalProperties": False,
        "allOf": [{"anyOf": [_TIMED, _OPEN]}, {"anyOf": [_shaped(shape) for shape in SHAPES]}],
    }


_TIMED: Json = {
    "required": ["duration_seconds"],
    "properties": {"duration_seconds": {"type": "number"}, "open_ended": {"const": False}},
}
_OPEN: Json = {
    "required": ["open_ended"],
    "properties": {"duration_seconds": {"type": "null"}, "open_ended": {"const": True}},
}


def _shaped(shape: Shape) -> Json:
    """What a fault of this shape may not have: the keys of the other ones, but for a ramp of no length."""
    foreign = {key for keys in SHAPE_KEYS.values() for key in keys} - set(SHAPE_KEYS[shape])
    neutral: Json = {key: {"type": "null"} if key in SHAPE_DEFAULTS else {"const": 0} for key in sorted(foreign)}
    return {
        "properties": {"shape": {"const": shape}} | neutral,
        "required": [] if shape == "linear" else ["shape"],
    }


def _limited(name: str) -> Json:
    schema = _number(_RANGES[name], kind="integer" if name == "seed" else "number")
    if name in NULLABLE:
        schema["type"] = [schema["type"], "null"]
    if name in _DEFAULTS:
        schema["default"] = _DEFAULTS[name]
    if name.endswith("_seconds"):
        schema["x-unit"] = "seconds"
    shapes = [shape for shape, keys in SHAPE_KEYS.items() if name in keys]
    only = f" Only with shape {' or '.join(shapes)}." if shapes else ""
    if name in SHAPE_DEFAULTS:
        only += f" {SHAPE_DEFAULTS[name]:g} when left out."
    return schema | {"description": _ABOUT[name] + only}


def _number(limits: Range, *, kind: str) -> Json:
    schema: Json = {"type": kind}
    if limits.minimum is not None:
        schema["exclusiveMinimum" if limits.above else "minimum"] = limits.minimum
    if limits.maximum is not None:
        schema["maximum"] = limits.maximum
    return schema


def target_schema(mode: Mode) -> Json:
    """A target of one mode."""
    indices: Json = {
        "type": "array",
        "items": {"type": "integer", "minimum": 0, "maximum": MAX_INTEGER},
        "minItems": 1,
        "uniqueItems": True,
    }
    values: dict[Mode, Json] = {
        "all": {"type": "null"},
        "one": {"type": "null"},
        "count": {"type": "integer", "minimum": 1, "maximum": MAX_INTEGER},
        "percent": {"type": "number", "exclusiveMinimum": 0, "maximum": 100},
        "ranks": indices,
        "nodes": indices | {"type": ["array", "null"]},
    }
    needed = mode in ("count", "percent", "ranks")
    return {
        "type": "object",
        "properties": {"mode": {"const": mode}, "value": values[mode]},
        "required": ["mode", "value"] if needed else ["mode"],
        "additionalProperties": False,
    }
