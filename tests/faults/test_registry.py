from __future__ import annotations

import importlib
import json
import pkgutil
from pathlib import Path

import pytest

import faults.kinds
from faults import registry
from faults.checks import Checker
from faults.errors import FaultError
from faults.kind import NEEDS, Kind
from faults.parse import COMMON, TARGETS
from faults.spec import FaultSpec
from faults.target import MODES
from tests.faults.conftest import AddKind

MODULES = sorted(info.name for info in pkgutil.iter_modules(faults.kinds.__path__))
KINDS = sorted(registry.kinds().items())

each_kind = pytest.mark.parametrize("kind", [kind for _, kind in KINDS], ids=[name for name, _ in KINDS])


def test_every_module_is_a_kind_of_its_own_name() -> None:
    assert sorted(registry.kinds()) == MODULES
    assert list(registry.kinds()) == MODULES


@pytest.mark.parametrize("module", MODULES)
def test_every_kind_has_its_test(module: str) -> None:
    assert (Path(__file__).parent / "kinds" / f"test_{module}.py").is_file()
    assert importlib.import_module(f"faults.kinds.{module}").KIND.name == module


@each_kind
def test_catalogue_entry_is_complete(kind: Kind) -> None:
    entry = registry.describe(kind)
    assert json.loads(json.dumps(entry, allow_nan=False)) == entry
    for key in ("summary", "look_at", "composition"):
        text = entry[key]
        assert isinstance(text, str)
        assert text.endswith(".")
    assert set(kind.target_modes) <= set(MODES)
    assert kind.needs == tuple(need for need in kind.needs if need in NEEDS)


@each_kind
def test_parameters_are_described_and_their_defaults_valid(kind: Kind) -> None:
    names = [param.name for param in kind.params]
    assert len(set(names)) == len(names)
    assert not set(names) & {*COMMON, *TARGETS}, "the command line could not tell them apart"
    for param in kind.params:
        check = Checker()
        assert param.checked(param.default, check, pointer="") == param.default
        check.finish()
        assert param.description.endswith(".")
        assert param.unit or param.type in ("string", "boolean"), f"{param.name} needs a unit"


@each_kind
def test_name_alone_is_a_valid_fault(kind: Kind) -> None:
    spec = FaultSpec.from_mapping({"kind": kind.name, "open_ended": True})
    assert dict(spec.params) == kind.default_params()
    assert spec.effective_target.mode in kind.target_modes


def test_schema() -> None:
    assert registry.params_schema(registry.kind("straggler")) == {
        "type": "object",
        "properties": {
            "slowdown": {
                "type": "number",
                "description": "Time of forward and backward on the target ranks, relative to healthy, at intensity 1.",
                "default": 1.5,
                "minimum": 1.05,
                "maximum": 4.0,
                "x-unit": "ratio",
            }
        },
        "additionalProperties": False,
    }


def test_choices_are_an_enum() -> None:
    schema = json.dumps(registry.params_schema(registry.kind("io_starvation")))
    assert '"enum": ["tail", "node", "uniform"]' in schema
    assert '"mode": {"type": "string"' in schema


@pytest.mark.parametrize("name", ["stragler", "", None, 3, ["none"]])
def test_unknown_kind_lists_the_valid_ones(name: object) -> None:
    with pytest.raises(FaultError) as caught:
        registry.kind(name)
    (problem,) = caught.value.problems
    assert problem.pointer == "/kind"
    assert ", ".join(MODULES) in problem.detail


def test_the_answer_is_a_copy() -> None:
    registry.kinds().clear()
    assert registry.kinds()


def test_one_file_makes_a_kind(add_kind: AddKind) -> None:
    add_kind("cosmic_ray")
    assert "cosmic_ray" in registry.kinds()
    assert dict(FaultSpec.from_mapping({"kind": "cosmic_ray", "open_ended": True}).params) == {
        "strength": 2,
        "on": True,
        "label": "",
    }


def test_private_modules_are_not_kinds(add_kind: AddKind) -> None:
    add_kind("_helpers", source="")
    assert sorted(registry.kinds()) == MODULES


def test_a_module_without_a_kind_is_a_mistake(add_kind: AddKind) -> None:
    add_kind("empty", source="")
    with pytest.raises(AssertionError, match=r"faults\.kinds\.empty must end in KIND"):
        registry.kinds()


def test_two_kinds_of_one_name_are_a_mistake(add_kind: AddKind) -> None:
    add_kind("other", source="from faults.kinds.none import Nothing\nKIND = Nothing()  # {name} {needs}")
    with pytest.raises(AssertionError, match="another kind called none"):
        registry.kinds()
