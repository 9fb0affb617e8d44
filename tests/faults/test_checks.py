from __future__ import annotations

import math
from collections import OrderedDict
from typing import Any

import pytest
from hypothesis import given

from faults.checks import MAX_PROBLEMS, Checker, Range, listed, show
from faults.errors import FaultError, Problem
from tests.faults.strategies import JSON, relaxed

UNIT = Range(0, 1, above=True)


def detail(check: Checker) -> str:
    (problem,) = check.error().problems
    assert problem.pointer == "/x"
    return problem.detail


@pytest.mark.parametrize(("value", "clean"), [(1, 1.0), (0.5, 0.5), (5e-324, 5e-324)])
def test_number(value: float, clean: float) -> None:
    check = Checker()
    result = check.number(value, "/x", UNIT)
    assert result == clean
    assert type(result) is float
    check.finish()


@pytest.mark.parametrize("value", [0, -1, 1.1, True, False, None, "1", [], {}, math.nan, math.inf])
def test_number_refused(value: Any) -> None:
    check = Checker()
    assert check.number(value, "/x", UNIT) is None
    assert detail(check).startswith("must be a number above 0 and up to 1, not ")


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_number_is_finite_even_without_limits(value: float) -> None:
    check = Checker()
    assert check.number(value, "/x", Range()) is None
    assert detail(check).startswith("must be a number, not ")


def test_numbers_too_large_for_a_float_or_for_printing() -> None:
    check = Checker()
    for huge in (10**400, -(10**5000)):
        assert check.number(huge, "/x", Range()) is None
        assert check.number(huge, "/x", UNIT) is None
        assert check.integer(huge, "/x", Range(0, 10)) is None
    assert {problem.detail for problem in check.error().problems} == {
        f"must be {what}, not an integer of more than 64 bits"
        for what in ("a number", "a number above 0 and up to 1", "an integer from 0 to 10")
    }


def test_integer() -> None:
    check = Checker()
    results = [check.integer(value, "/x", Range(0)) for value in (0, 7, 5.0, 2**70)]
    assert results == [0, 7, 5, 2**70]
    assert all(type(result) is int for result in results)
    check.finish()


@pytest.mark.parametrize("value", [0.5, True, None, "1", -1, math.nan, math.inf])
def test_integer_refused(value: Any) -> None:
    check = Checker()
    assert check.integer(value, "/x", Range(0)) is None
    assert detail(check).startswith("must be an integer of at least 0, not ")


@pytest.mark.parametrize("value", [0, 1, 0.0, "true", None, []])
def test_only_booleans_are_booleans(value: Any) -> None:
    check = Checker()
    assert check.boolean(value, "/x") is None
    assert detail(check) == f"must be true or false, not {show(value)}"


def test_string() -> None:
    check = Checker()
    assert check.string("é" * 5, "/x", max_length=5) == "é" * 5
    check.finish()
    assert check.string("abcdef", "/x", max_length=5) is None
    assert detail(check) == "must be a string of at most 5 characters, not 'abcdef'"


def test_string_that_no_answer_could_carry() -> None:
    check = Checker()
    assert check.string("a\ud800", "/x", max_length=5) is None
    assert "surrogate" in detail(check)


@pytest.mark.parametrize("sign", ["\0", "\a", "\b", "\r", "\x1b", "\x7f", "\x9b"], ids=repr)
def test_string_that_a_terminal_would_obey(sign: str) -> None:
    check = Checker()
    assert check.string(f"a{sign}[2J", "/x", max_length=9) is None
    assert detail(check) == "must hold no control characters but tab and newline"
    assert Checker().string("two\nlines\tand a tab", "/x", max_length=99) == "two\nlines\tand a tab"


@pytest.mark.parametrize("value", ["c", "", 1, None, ["a"]])
def test_choice_refused(value: Any) -> None:
    check = Checker()
    assert check.choice(value, "/x", ("a", "b")) is None
    assert detail(check) == f"must be one of a, b, not {show(value)}"


def test_unknown_keys_are_named_with_the_valid_ones() -> None:
    check = Checker()
    assert check.members(OrderedDict(b=1, zz=2, a=3), "/x", ("a", "b"), of="it") == {"a": 3, "b": 1}
    assert check.error().problems == (Problem("/x/zz", "is not a key of it; valid keys: a, b"),)


def test_keys_that_are_not_text() -> None:
    check = Checker()
    assert check.members({1: 2}, "", (), of="it") == {}
    assert check.error().problems == (Problem("/1", "is not a key of it; valid keys: none"),)


def test_reports_are_bounded() -> None:
    check = Checker()
    check.members({f"k{i}": 0 for i in range(5_000)}, "", (), of="it")
    problems = check.error().problems
    assert len(problems) == MAX_PROBLEMS + 1
    assert problems[-1].detail == f"and {5_000 - MAX_PROBLEMS} more problems"


def test_nothing_noted_raises_nothing() -> None:
    Checker().finish()


def test_finish_raises_all() -> None:
    check = Checker()
    check.add("/a", "no")
    check.add("/b", "no")
    with pytest.raises(FaultError, match=r"^a: no; b: no$"):
        check.finish()


@pytest.mark.parametrize(
    ("limits", "text"),
    [
        (Range(), ""),
        (Range(1), "of at least 1"),
        (Range(None, 2), "of at most 2"),
        (Range(1.05, 4), "from 1.05 to 4"),
        (Range(0, 86_400, above=True), "above 0 and up to 86400"),
        (Range(0, above=True), "above 0"),
        (Range(0, 2**32 - 1), "from 0 to 4294967295"),
    ],
)
def test_ranges_read_well(limits: Range, text: str) -> None:
    assert str(limits) == text


@relaxed
@given(JSON)
def test_anything_can_be_shown_in_one_short_line(value: Any) -> None:
    text = show(value)
    assert len(text) < 600
    assert text.isprintable()
    text.encode()


def test_show() -> None:
    values: tuple[object, ...] = (None, True, 1.5, 7, {}, (), b"")
    assert [show(value) for value in values] == ["null", "true", "1.5", "7", "an object", "an array", "a bytes"]
    assert show("x" * 41) == f"'{'x' * 40}'…"
    assert listed([]) == "none"
