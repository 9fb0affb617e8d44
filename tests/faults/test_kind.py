from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from faults.checks import Checker
from faults.effects import Topology
from faults.kind import Application, Kind, Param, ParamType
from faults.kinds.none import KIND as NONE
from faults.target import Target
from tests.faults.conftest import AddKind


def check_one(kind: ParamType, raw: object, **limits: Any) -> tuple[object, str]:
    check = Checker()
    clean = Param("p", kind, 0, "", "", **limits).checked(raw, check, pointer="/params/p")
    return clean, str(check.error())


@pytest.mark.parametrize(
    ("kind", "raw", "limits", "clean"),
    [
        ("number", 2, {"minimum": 1, "maximum": 3}, 2.0),
        ("integer", 2.0, {}, 2),
        ("boolean", False, {}, False),
        ("string", "text", {}, "text"),
        ("string", "b", {"choices": ("a", "b")}, "b"),
    ],
)
def test_parameters(kind: ParamType, raw: object, limits: dict[str, Any], clean: object) -> None:
    assert check_one(kind, raw, **limits) == (clean, "")


@pytest.mark.parametrize(
    ("kind", "raw", "limits", "text"),
    [
        ("number", 4, {"minimum": 1, "maximum": 3}, "must be a number from 1 to 3, not 4"),
        ("number", True, {}, "must be a number, not true"),
        ("integer", 2.5, {"minimum": 1}, "must be an integer of at least 1, not 2.5"),
        ("boolean", 0, {}, "must be true or false, not 0"),
        ("string", 5, {}, "must be a string of at most 200 characters, not 5"),
        ("string", "c", {"choices": ("a", "b")}, "must be one of a, b, not 'c'"),
    ],
)
def test_parameters_refused(kind: ParamType, raw: object, limits: dict[str, Any], text: str) -> None:
    assert check_one(kind, raw, **limits) == (None, f"params.p: {text}")


def test_application_numbers() -> None:
    topology = Topology(2, 2)
    application = Application("a", 1, np.arange(2), 0.5, {"x": 3}, topology)
    assert application.number("x") == 3.0


def test_a_kind_has_no_needs_unless_it_says_so() -> None:
    assert NONE.unmet_needs(Topology(4, 4)) == []
    assert NONE.default_target_for({}) == Target("all")


def test_needs_are_met_by_the_topology(add_kind: AddKind) -> None:
    from faults.registry import kind

    add_kind("cable", needs=("network",))
    cable: Kind = kind("cable")
    assert cable.unmet_needs(Topology(8, 4, overlaps_nodes=True)) == []
    (reason,) = cable.unmet_needs(Topology(4, 4))
    assert "never leave one node" in reason
