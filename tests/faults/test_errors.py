from __future__ import annotations

import pickle

import pytest

from faults.errors import FaultError, Problem, pointer_to


def test_text_is_one_line_with_every_key() -> None:
    error = FaultError(
        [Problem("/params/slowdown", "must be small"), Problem("", "too many"), Problem("/a~1b~0c", "no")]
    )
    assert str(error) == "params.slowdown: must be small; too many; a/b~c: no"
    assert error.code == "invalid"


def test_a_hostile_key_stays_in_its_line() -> None:
    assert str(FaultError.at("/a\n\x1b[2J", "no")) == r"a\n\x1b[2J: no"


def test_single_problem() -> None:
    error = FaultError.at("/kind", "needs a network", code="unsupported")
    assert error.problems == (Problem("/kind", "needs a network"),)
    assert error.code == "unsupported"
    assert isinstance(error, ValueError)


@pytest.mark.parametrize(
    ("key", "pointer"), [("a", "/p/a"), ("a/b", "/p/a~1b"), ("a~b", "/p/a~0b"), ("\ud800", "/p/\\ud800"), ("", "/p/")]
)
def test_pointers_are_escaped(key: str, pointer: str) -> None:
    assert pointer_to("/p", key) == pointer
    pointer.encode()


def test_pointers_are_short() -> None:
    assert len(pointer_to("", "k" * 10_000)) < 100


def test_survives_pickling() -> None:
    error = pickle.loads(pickle.dumps(FaultError.at("/kind", "no", code="limit")))
    assert (str(error), error.code, error.problems) == ("kind: no", "limit", (Problem("/kind", "no"),))
