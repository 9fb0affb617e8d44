from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faults.book import FaultBook
from faults.effects import Topology
from faults.errors import FaultError
from faults.record import FaultEvent, FaultRecord, validate_name
from faults.spec import FIELDS, FaultSpec
from tests.faults.strategies import NAMES, relaxed

NODE = Topology(4, 4)
NOON = 1_767_268_800.0
"""2026-01-01 12:00 UTC"""


def put(at_seconds: float = 0.0, **fields: Any) -> FaultRecord:
    book = FaultBook(NODE, seed=1, now=lambda: NOON)
    spec = FaultSpec.from_mapping({"kind": "straggler", "open_ended": "duration_seconds" not in fields, **fields})
    return book.put("slow", spec, at_seconds=at_seconds, next_step=42)[0]


@relaxed
@given(NAMES)
def test_names(name: str) -> None:
    assert validate_name(name) == name


@pytest.mark.parametrize("name", ["a", "0", "film-1", "a.b_c", "a" * 64])
def test_good_names(name: str) -> None:
    assert validate_name(name) == name


@pytest.mark.parametrize("name", ["", "A", "-a", "a-", ".", "a b", "a\n", "é", "a" * 65, "a/b", "\ud800", None, 3])
def test_bad_names(name: object) -> None:
    with pytest.raises(FaultError, match=r"^name: must be 1 to 64 of the characters"):
        validate_name(name)


def test_shows_the_spec_and_how_it_stands() -> None:
    record = put(
        100.0, target={"mode": "ranks", "value": [2]}, duration_seconds=60, start_after_seconds=5, intensity=0.5
    )
    shown = record.to_mapping(130.0)
    assert list(shown) == [
        "name",
        *FIELDS,
        "state",
        "paused",
        "resolved_targets",
        "resolved_count",
        "resolved_ranges",
        "effective_intensity",
        "effective_from_step",
        "created_at",
        "expires_at",
    ]
    assert {key: shown[key] for key in ("name", "target", "state", "resolved_targets", "effective_intensity")} == {
        "name": "slow",
        "target": {"mode": "ranks", "value": [2]},
        "state": "active",
        "resolved_targets": [2],
        "effective_intensity": 0.5,
    }
    assert shown["created_at"] == "2026-01-01T12:00:00.000Z"
    assert shown["expires_at"] == "2026-01-01T12:01:05.000Z"
    assert json.loads(json.dumps(shown)) == shown


def test_its_own_mapping_asks_for_the_same_fault() -> None:
    record = put()
    again = {key: value for key, value in record.to_mapping(0.0).items() if key in FIELDS}
    assert FaultSpec.from_mapping(again) == record.spec


def test_open_ended_never_expires() -> None:
    assert put().to_mapping(0.0)["expires_at"] is None


def test_intensity_follows_the_schedule() -> None:
    record = put(ramp_up_seconds=10, intensity=0.5)
    assert [record.intensity(at) for at in (0, 5, 10)] == [0.0, 0.25, 0.5]
    assert record.level(5) == ("ramping", 0.5)


def test_ranks_are_read_only() -> None:
    with pytest.raises(ValueError, match="read-only"):
        put().ranks[0] = 3


def test_description() -> None:
    assert put(target={"mode": "all"}, intensity=0.25).describe() == "target all, intensity 0.25, slowdown 1.5"


def test_event_as_json() -> None:
    event = FaultEvent("straggler", "slow", "started", 1.0, 7, "")
    assert event.to_mapping() == {
        "kind": "straggler",
        "name": "slow",
        "event": "started",
        "at_seconds": 1.0,
        "step": 7,
        "detail": "",
    }


@relaxed
@given(st.floats(0, 1e5), st.floats(0, 1e5))
def test_only_time_since_the_put_counts(put_at: float, later: float) -> None:
    record = put(put_at, duration_seconds=100)
    state, _ = record.level(put_at + later)
    assert state == ("active" if put_at + later - put_at < 100 else "expired")
