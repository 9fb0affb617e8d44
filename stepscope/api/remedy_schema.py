"""JSON Schema of a remedy as it may be applied, from the registry. The checks themselves stay in `faults`."""

from __future__ import annotations

from faults.registry import param_schema
from faults.remedy import Remedy
from faults.remedy_registry import remedies
from faults.target import Mode
from stepscope.api.schema import target_schema

Json = dict[str, object]

EXAMPLES: Json = {
    "workers": {"summary": "More workers", "value": {"remedy": "num_workers", "value": 16}},
    "spare": {"summary": "A spare node", "value": {"remedy": "cordon_node", "target": {"mode": "nodes", "value": [0]}}},
}


def components() -> dict[str, Json]:
    """Every schema that a remedy needs."""
    names = list(remedies())
    whole: Json = {
        "title": "RemedyWrite",
        "description": "A remedy to apply: what, with which value, and where.",
        "oneOf": [{"$ref": f"#/components/schemas/{component(name)}"} for name in names],
        "discriminator": {
            "propertyName": "remedy",
            "mapping": {name: f"#/components/schemas/{component(name)}" for name in names},
        },
    }
    return {"RemedyWrite": whole} | {component(name): _remedy(found) for name, found in remedies().items()}


def component(name: str) -> str:
    """Name of the remedy's schema under `components`."""
    return "RemedyWrite_" + name


def value_schema(remedy: Remedy) -> Json | None:
    """Of the value that it takes; None where there is nothing to set."""
    return None if remedy.setting is None else param_schema(remedy.setting)


def _remedy(remedy: Remedy) -> Json:
    properties: Json = {"remedy": {"const": remedy.name}, "value": {"type": "null"}}
    if remedy.setting is not None:
        properties["value"] = {"anyOf": [{"type": "null"}, param_schema(remedy.setting)]}
    named = remedy.target_modes[0] != "all"
    choices = [_named(mode) for mode in remedy.target_modes]
    properties["target"] = {"oneOf": choices if named else [{"type": "null"}, *choices]}
    return {
        "title": f"Remedy {remedy.name}",
        "description": remedy.summary,
        "type": "object",
        "properties": properties,
        "required": ["remedy", "target"] if named else ["remedy"],
        "additionalProperties": False,
    }


def _named(mode: Mode) -> Json:
    """A target of this mode, which says which nodes it means."""
    schema = target_schema(mode)
    if mode != "nodes":
        return schema
    properties = schema["properties"]
    assert isinstance(properties, dict)
    return schema | {
        "properties": properties | {"value": properties["value"] | {"type": "array"}},
        "required": ["mode", "value"],
    }
