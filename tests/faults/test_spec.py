from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faults.errors import FaultError
from faults.spec import (
    FIELDS,
    INTENSITIES,
    LIMITS,
    MAX_NOTE,
    NULLABLE,
    SHAPE_DEFAULTS,
    SHAPE_KEYS,
    SHAPES,
    FaultSpec,
)
from faults.target import Target
from tests.faults.conftest import AddKind
from tests.faults.strategies import JSON, check_report, mappings, relaxed

OPEN = {"kind": "straggler", "open_ended": True}


def problems(mapping: object) -> list[tuple[str, str]]:
    with pytest.raises(FaultError) as caught:
        FaultSpec.from_mapping(mapping)
    assert "\n" not in str(caught.value)
    assert caught.value.code == "invalid"
    return [(problem.pointer, problem.detail) for problem in caught.value.problems]


def test_defaults() -> None:
    spec = FaultSpec.from_mapping(OPEN)
    assert spec == FaultSpec("straggler", params={"slowdown": 1.5}, open_ended=True)
    assert spec.effective_target == Target("one")


def test_everything_given() -> None:
    mapping = {
        "kind": "io_starvation",
        "params": {"mode": "node", "lateness_steps": 2},
        "target": {"mode": "nodes", "value": [1]},
        "intensity": 0.5,
        "start_after_seconds": 10,
        "duration_seconds": 60,
        "open_ended": False,
        "ramp_up_seconds": 5,
        "ramp_down_seconds": 20,
        "shape": "linear",
        "period_seconds": None,
        "duty": None,
        "seed": 7,
        "note": "the mount of node 1",
    }
    spec = FaultSpec.from_mapping(mapping)
    assert spec.to_mapping() == mapping
    assert list(spec.to_mapping()) == list(FIELDS)


def test_numbers_come_out_as_floats_and_seeds_as_integers() -> None:
    spec = FaultSpec.from_mapping(OPEN | {"params": {"slowdown": 2}, "intensity": 1, "seed": 5.0})
    assert [type(value) for value in (spec.params["slowdown"], spec.intensity, spec.seed)] == [float, float, int]


@pytest.mark.parametrize("key", ["target", "duration_seconds", "period_seconds", "duty", "seed"])
def test_null_is_as_good_as_left_out(key: str) -> None:
    assert FaultSpec.from_mapping(OPEN | {key: None}) == FaultSpec.from_mapping(OPEN)


@pytest.mark.parametrize(
    ("given", "period", "duty"),
    [
        ({"shape": "linear"}, None, None),
        ({"shape": "sine"}, 60.0, None),
        ({"shape": "flap"}, 60.0, 0.5),
        ({"shape": "flap", "period_seconds": 10, "duty": 0.2}, 10.0, 0.2),
        ({"shape": "flap", "ramp_up_seconds": 0}, 60.0, 0.5),
    ],
)
def test_shapes_that_come_and_go_have_a_period(given: dict[str, Any], period: float | None, duty: float | None) -> None:
    spec = FaultSpec.from_mapping(OPEN | given)
    assert (spec.period_seconds, spec.duty) == (period, duty)


@relaxed
@given(mappings())
def test_round_trip(mapping: dict[str, Any]) -> None:
    spec = FaultSpec.from_mapping(mapping)
    again = json.loads(json.dumps(spec.to_mapping(), allow_nan=False))
    assert FaultSpec.from_mapping(again) == spec
    assert hash(FaultSpec.from_mapping(again)) == hash(spec)


SCHEDULE = [
    ({"kind": "none"}, "/duration_seconds", "is required, a number above 0 and up to 86400, unless open_ended is true"),
    ({"kind": "none", "duration_seconds": None}, "/duration_seconds", "is required"),
    ({"kind": "none", "open_ended": False}, "/duration_seconds", "is required"),
    (OPEN | {"duration_seconds": 5}, "/duration_seconds", "must be left out when open_ended is true"),
    (OPEN | {"shape": "step", "ramp_up_seconds": 1}, "/ramp_up_seconds", "must be 0 or left out when shape is step"),
    (
        OPEN | {"shape": "step", "ramp_down_seconds": 1},
        "/ramp_down_seconds",
        "must be 0 or left out when shape is step; it goes with shape linear, exponential",
    ),
    (OPEN | {"shape": "sine", "ramp_up_seconds": 1}, "/ramp_up_seconds", "must be 0 or left out when shape is sine"),
    (
        OPEN | {"shape": "flap", "ramp_down_seconds": 1},
        "/ramp_down_seconds",
        "must be 0 or left out when shape is flap",
    ),
    (
        OPEN | {"period_seconds": 5},
        "/period_seconds",
        "must be left out when shape is linear; it goes with shape sine, ",
    ),
    (OPEN | {"shape": "step", "period_seconds": 5}, "/period_seconds", "must be left out when shape is step"),
    (OPEN | {"shape": "sine", "duty": 0.5}, "/duty", "must be left out when shape is sine; it goes with shape flap"),
    (OPEN | {"shape": "exponential", "duty": 0.5}, "/duty", "must be left out when shape is exponential"),
]
FIELD_VALUES = [
    (OPEN | {"kind": "stragler"}, "/kind", "must be one of "),
    (OPEN | {"kind": None}, "/kind", "must be one of "),
    ({"open_ended": True}, "/kind", "is required, one of "),
    (OPEN | {"foo": 1}, "/foo", "is not a key of a fault; valid keys: kind, params, target, intensity, "),
    (OPEN | {"params": []}, "/params", "must be an object, not an array"),
    (OPEN | {"params": None}, "/params", "must be an object, not null"),
    (OPEN | {"params": {"slow": 2}}, "/params/slow", "the parameters of straggler; valid keys: slowdown"),
    (OPEN | {"params": {"slowdown": 1.04}}, "/params/slowdown", "must be a number from 1.05 to 4, not 1.04"),
    (OPEN | {"params": {"slowdown": True}}, "/params/slowdown", "not true"),
    (OPEN | {"intensity": 0}, "/intensity", "must be a number above 0 and up to 1, not 0"),
    (OPEN | {"intensity": "severe"}, "/intensity", "not 'severe'"),
    (OPEN | {"intensity": math.nan}, "/intensity", "not nan"),
    (OPEN | {"intensity": None}, "/intensity", "not null"),
    (OPEN | {"start_after_seconds": -1}, "/start_after_seconds", "must be a number from 0 to 86400, not -1"),
    (OPEN | {"start_after_seconds": 10**400}, "/start_after_seconds", "not an integer of more than 64 bits"),
    (OPEN | {"ramp_up_seconds": 3601}, "/ramp_up_seconds", "must be a number from 0 to 3600, not 3601"),
    (OPEN | {"ramp_down_seconds": math.inf}, "/ramp_down_seconds", "not inf"),
    ({"kind": "none", "duration_seconds": 0}, "/duration_seconds", "must be a number above 0 and up to 86400, not 0"),
    ({"kind": "none", "duration_seconds": 86_401}, "/duration_seconds", "not 86401"),
    (OPEN | {"seed": 2**32}, "/seed", "must be an integer from 0 to 4294967295, not 4294967296"),
    (OPEN | {"seed": 1.5}, "/seed", "not 1.5"),
    (OPEN | {"shape": "zigzag"}, "/shape", "must be one of linear, exponential, step, sine, flap, not 'zigzag'"),
    (OPEN | {"shape": "zigzag", "duty": 0.5}, "/shape", "must be one of linear, "),
    (OPEN | {"shape": "sine", "period_seconds": 1}, "/period_seconds", "must be a number from 2 to 3600, not 1"),
    (OPEN | {"shape": "flap", "duty": 1}, "/duty", "must be a number from 0.05 to 0.95, not 1"),
    (OPEN | {"note": "x" * (MAX_NOTE + 1)}, "/note", "must be a string of at most 500 characters"),
    (OPEN | {"note": None}, "/note", "not null"),
    (OPEN | {"open_ended": 1}, "/open_ended", "must be true or false, not 1"),
    (OPEN | {"open_ended": "true"}, "/open_ended", "must be true or false, not 'true'"),
    (OPEN | {"target": "all"}, "/target", "must be an object, not 'all'"),
    (OPEN | {"kind": "gradient_explosion", "target": {"mode": "one"}}, "/target/mode", "must be all, which is all"),
    ([OPEN], "", "must be an object, not an array"),
    (None, "", "must be an object, not null"),
]


@pytest.mark.parametrize(("mapping", "pointer", "detail"), SCHEDULE + FIELD_VALUES)
def test_refused(mapping: object, pointer: str, detail: str) -> None:
    found = problems(mapping)
    assert [at for at, _ in found] == [pointer]
    assert detail in found[0][1]


def test_every_problem_is_reported() -> None:
    found = problems(
        {
            "kind": "straggler",
            "params": {"slowdown": 9, "x": 1},
            "target": {"mode": "ranks", "value": [-1]},
            "intensity": 2,
            "seed": "a",
            "colour": "red",
        }
    )
    assert {pointer for pointer, _ in found} == {
        "/params/slowdown",
        "/params/x",
        "/target/value/0",
        "/intensity",
        "/seed",
        "/colour",
        "/duration_seconds",
    }


def test_parameters_of_every_type(add_kind: AddKind) -> None:
    add_kind("fake")
    spec = FaultSpec.from_mapping(
        {"kind": "fake", "params": {"strength": 3, "on": False, "label": "x"}, "open_ended": True}
    )
    assert dict(spec.params) == {"strength": 3, "on": False, "label": "x"}


def test_parameters_cannot_be_changed() -> None:
    with pytest.raises(TypeError):
        FaultSpec.from_mapping(OPEN).params["slowdown"] = 2.0  # type: ignore[index]


@relaxed
@given(JSON)
def test_arbitrary_json_is_a_spec_or_a_fault_error(value: Any) -> None:
    try:
        spec = FaultSpec.from_mapping(value)
    except FaultError as error:
        check_report(error)
    else:
        assert FaultSpec.from_mapping(spec.to_mapping()) == spec


@relaxed
@given(mappings(), st.sampled_from(FIELDS), JSON)
def test_one_field_replaced_by_arbitrary_json(mapping: dict[str, Any], key: str, value: Any) -> None:
    try:
        FaultSpec.from_mapping({**mapping, key: value})
    except FaultError as error:
        check_report(error)


@relaxed
@given(mappings(), st.sampled_from(["slowdown", "mode", "lateness_steps", "growth_steps", "peak_factor"]), JSON)
def test_one_parameter_replaced_by_arbitrary_json(mapping: dict[str, Any], key: str, value: Any) -> None:
    try:
        FaultSpec.from_mapping({**mapping, "params": {key: value}})
    except FaultError as error:
        check_report(error)


def test_limits_and_words_agree() -> None:
    assert all(value in LIMITS["intensity"] for value in INTENSITIES.values())
    assert set(LIMITS) <= set(FIELDS)
    assert set(NULLABLE) <= set(LIMITS)
    assert set(SHAPE_KEYS) == set(SHAPES)
    assert all(value in LIMITS[key] for key, value in SHAPE_DEFAULTS.items())
