"""Scenario files: those that come with the product, and those that people write."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType

import yaml

from faults.errors import FaultError
from faults.scenario import Scenario

MAX_BYTES = 64 * 1024


class _Loader(yaml.SafeLoader):
    """Plain values only: no tags, no key twice, and no aliases, a few of which can stand for gigabytes."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        """The next node of the document."""
        if self.check_event(yaml.AliasEvent):
            raise yaml.composer.ComposerError(None, None, "aliases are not taken", self.peek_event().start_mark)  # type: ignore[no-untyped-call]
        return super().compose_node(parent, index)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[object, object]:
        """A mapping, each key of which is there once."""
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        for key, (key_node, _) in zip(keys, node.value, strict=True):
            if not isinstance(key, str) or keys.count(key) > 1:
                problem = f"key {key!r} is there twice" if isinstance(key, str) else f"key {key!r} is not text"
                raise yaml.constructor.ConstructorError(None, None, problem, key_node.start_mark)
        return super().construct_mapping(node, deep)


def load_scenario(text: str) -> Scenario:
    """The scenario that YAML (or JSON) text describes. Raises FaultError that says what is wrong with which key."""
    return Scenario.from_mapping(_value(text))


def read_mapping(path: Path) -> object:
    """The scenario in a file, checked, as the plain value that the file holds: what the API takes.

    Raises FaultError as `load_scenario` does, OSError where the file cannot be read.
    """
    with path.open("rb") as file:
        raw = file.read(MAX_BYTES + 1)
    try:
        value = _value(raw.decode("utf-8"))
    except UnicodeDecodeError:
        raise FaultError.at("", "is not UTF-8 text") from None
    Scenario.from_mapping(value)
    return value


@cache
def scenarios() -> Mapping[str, Scenario]:
    """The scenarios that come with the product, by id. AssertionError where a file is not what it should be."""
    found = {}
    for file in sorted(files("faults").joinpath("scenarios").iterdir(), key=lambda item: item.name):
        if file.name.endswith(".yaml"):
            scenario = load_scenario(file.read_text(encoding="utf-8"))
            assert file.name == f"{scenario.id}.yaml", f"{file.name} holds scenario {scenario.id}"
            found[scenario.id] = scenario
    return MappingProxyType(found)


def _value(text: str) -> object:
    if len(text) > MAX_BYTES:
        raise FaultError.at("", f"must be at most {MAX_BYTES} characters long")
    try:
        value: object = yaml.load(text, _Loader)  # a SafeLoader, and stricter
    except RecursionError:
        raise FaultError.at("", "is nested too deeply") from None
    except (yaml.YAMLError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f"line {mark.line + 1}: " if mark is not None else ""
        raise FaultError.at("", f"{where}is not YAML: {_line(getattr(error, 'problem', None) or error)}") from None
    return value


def _line(problem: object) -> str:
    """What YAML says, as one line."""
    return " ".join(str(problem).split())
