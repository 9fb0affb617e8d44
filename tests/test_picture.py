"""The picture in the README is the one that the program draws."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from stepscope.picture import PICTURE, draw, film


def test_the_committed_picture_is_what_the_simulator_says_today() -> None:
    committed = PICTURE.read_text(encoding="utf-8")
    drawn = draw(*film())
    numbers = re.compile(r"-?\d+\.\d+")
    assert numbers.sub("#", committed) == numbers.sub("#", drawn), "run `make picture`"
    # To a tenth of a pixel: other processors may round the last digit differently.
    ours, theirs = (list(map(float, numbers.findall(text))) for text in (drawn, committed))
    assert ours == pytest.approx(theirs, abs=0.11)
    assert ElementTree.fromstring(drawn).tag.endswith("svg")


def test_it_shows_the_trap() -> None:
    seen, checkpoints = film()
    starved, calm, wild = seen[180], seen[60], seen[360]
    assert starved[0] > 90.0
    assert starved[1] < 0.7 * calm[1]
    assert wild[2] > 100 * calm[2]
    assert wild[0] == pytest.approx(calm[0], abs=0.5)
    assert checkpoints
