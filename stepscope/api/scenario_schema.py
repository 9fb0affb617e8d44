"""JSON Schema of what may be played. The checks themselves stay in `faults.scenario` and `playback_write`."""

from __future__ import annotations

from faults.checks import TEXT_PATTERN, Range
from faults.scenario import (
    AT,
    DURATION,
    ID_PATTERN,
    MAX_TEXT,
    MAX_TITLE,
    MOST_ALERTS,
    MOST_FAULTS,
    MOST_HINTS,
    OTHERS,
    RANK,
    REQUIRED,
    SEED,
    SPEED,
)
from faults.scenario_files import scenarios
from simulator.presets import PRESETS

Json = dict[str, object]

EXAMPLES: Json = {
    "shipped": {"summary": "One that comes with the lab", "value": {"scenario": "film", "speed": 2}},
}


def components() -> dict[str, Json]:
    """Every schema that a playback needs."""
    return {"PlaybackWrite": _playback(), "ScenarioWrite": _scenario()}


def _playback() -> Json:
    shipped: Json = {"type": "string", "enum": list(scenarios())}
    return {
        "title": "PlaybackWrite",
        "description": "Play this: a scenario of the lab by its id, or one of your own.",
        "type": "object",
        "properties": {
            "scenario": {"oneOf": [shipped, {"$ref": "#/components/schemas/ScenarioWrite"}]},
            "seed": {"type": ["integer", "null"], **_limits(SEED), "description": "In place of the scenario's own."},
            "speed": {
                "type": "number",
                **_limits(SPEED),
                "default": 1.0,
                "description": "How many times as fast its timeline passes. The job's clock does not change.",
            },
        },
        "required": ["scenario"],
        "additionalProperties": False,
    }


def _scenario() -> Json:
    names = _array(_text(MAX_TITLE), MOST_ALERTS)
    answer = _object(
        {
            "cause": _text(MAX_TEXT),
            "rank": {"type": ["integer", "null"], **_limits(RANK)},
            "remedy": _text(MAX_TEXT),
        },
        required=["cause", "remedy"],
    )
    moment = _object(
        {
            "at_seconds": {"type": "number", **_limits(AT), "description": "Before the scenario ends."},
            "fault": {
                "allOf": [
                    {"$ref": "#/components/schemas/FaultWrite"},
                    {"properties": {"start_after_seconds": {"const": 0}}},
                ]
            },
        },
        required=["at_seconds", "fault"],
    )
    expect: Json = {
        "alerts": names,
        "may": names,
        "silent": {"anyOf": [{"const": OTHERS}, names]},
    }
    return {
        "title": "ScenarioWrite",
        "description": "A scripted incident, with the keys of the files in faults/scenarios.",
        **_object(
            {
                "id": {"type": "string", "pattern": ID_PATTERN},
                "title": _text(MAX_TITLE, least=1),
                "question": _text(MAX_TEXT, least=1),
                "preset": {"type": "string", "enum": list(PRESETS)},
                "seed": {"type": "integer", **_limits(SEED), "default": 1},
                "duration_seconds": {"type": "number", **_limits(DURATION), "x-unit": "seconds"},
                "timeline": _array(moment, MOST_FAULTS),
                "expect": _object(expect, required=[]),
                "answer": {"oneOf": [answer, _array(answer, MOST_FAULTS, least=1)]},
                "hints": _array(_text(MAX_TEXT), MOST_HINTS),
            },
            required=list(REQUIRED),
        ),
    }


def _object(properties: Json, *, required: list[str]) -> Json:
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _array(items: Json, most: int, *, least: int = 0) -> Json:
    return {"type": "array", "items": items, "minItems": least, "maxItems": most}


def _text(most: int, *, least: int = 0) -> Json:
    return {"type": "string", "minLength": least, "maxLength": most, "pattern": TEXT_PATTERN}


def _limits(limits: Range) -> Json:
    return {"minimum": limits.minimum, "maximum": limits.maximum}
