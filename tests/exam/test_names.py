from __future__ import annotations

import unicodedata
from contextlib import suppress

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from stepscope.exam.names import MAX_NAME, checked_name, same_name_key

READABLE = st.characters(categories=("L", "M", "N", "P", "S", "Zs"))


@settings(suppress_health_check=[HealthCheck.filter_too_much])
@given(st.text(READABLE, min_size=1, max_size=50))
def test_what_passes_can_be_shown_and_passes_again(raw: str) -> None:
    name = ""
    with suppress(ValueError):
        name = checked_name(raw)
    assume(name)
    assert 1 <= len(name) <= MAX_NAME
    assert name == name.strip() == checked_name(name)
    assert not any(unicodedata.category(character)[0] == "C" for character in name)
    assert same_name_key(name)


@pytest.mark.parametrize(
    ("one", "other"), [("Ada", "ＡＤＡ"), ("Straße", "STRASSE"), ("e\u0301va", "\u00c9va"), ("a b", "ab")]
)
def test_names_that_look_alike_have_one_key(one: str, other: str) -> None:
    assert same_name_key(checked_name(one)) == same_name_key(checked_name(other))
