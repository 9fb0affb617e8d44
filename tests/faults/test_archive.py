from __future__ import annotations

import numpy as np
import pytest

from faults.archive import MAX_NAMES, Archive
from faults.record import FaultRecord
from faults.spec import FaultSpec


def ended(name: str) -> FaultRecord:
    spec = FaultSpec("none", open_ended=True)
    return FaultRecord(name, spec, np.arange(1), "all", put_at=0.0, created_at=0.0, told="cleared")


def test_the_oldest_makes_room_and_leaves_its_name() -> None:
    archive = Archive(2)
    for name in "abc":
        archive.add(ended(name))
    assert list(archive.records) == ["b", "c"]
    assert archive.find("a") is None
    found = archive.find("b")
    assert found is not None
    assert found.name == "b"


def test_unknown_names() -> None:
    with pytest.raises(KeyError):
        Archive(1).find("a")


def test_drop_forgets_records_and_names() -> None:
    archive = Archive(1)
    archive.add(ended("a"))
    archive.add(ended("b"))
    for name in "ab":
        archive.drop(name)
        with pytest.raises(KeyError):
            archive.find(name)


def test_names_are_bounded_too() -> None:
    archive = Archive(1)
    for number in range(MAX_NAMES + 2):
        archive.add(ended(f"f{number}"))
    with pytest.raises(KeyError):
        archive.find("f0")
    assert archive.find("f1") is None
