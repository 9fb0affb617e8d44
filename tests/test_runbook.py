"""RUNBOOK.md: an entry per cause, each with its five parts, and what the remedies of the lab do to it."""

from __future__ import annotations

import re

import pytest

from diagnosis.registry import causes
from faults.registry import kinds
from stepscope.runbook import BEGIN, FILE, ended_by, section
from tests.faults.test_remedies import ENDED_BY


def test_it_is_what_the_code_says() -> None:
    text = FILE.read_text(encoding="utf-8")
    assert text[text.index(BEGIN) :] == section()


@pytest.mark.parametrize("name", list(causes()))
def test_every_cause_has_all_its_parts(name: str) -> None:
    entry = section().split(f"### {name}\n", 1)[1].split("\n### ", 1)[0]
    assert re.findall(r"^\*\*(.+?)\*\*", entry, flags=re.MULTILINE) == [
        "You see", "Why", "Confirm", "Fix", "It worked when",
    ]  # fmt: skip


def test_every_kind_that_does_something_is_a_cause() -> None:
    assert set(kinds()) - {"none"} <= set(causes())


@pytest.mark.parametrize("kind", [kind for kind in kinds() if kind != "none"])
def test_something_ends_every_cause(kind: str) -> None:
    assert ended_by(kind), "there is nothing to do about it in the lab"
    assert set(ended_by(kind)) <= ENDED_BY[kind]
