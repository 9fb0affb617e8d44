"""A book of faults: what time does to them, and how they are listed."""

from __future__ import annotations

from typing import Any

import pytest

from faults.book import MAX_EVENTS, FaultBook
from faults.spec import FaultSpec
from tests.faults.books import SLOW, book, happened, timed


class TestTime:
    def test_whole_life_in_events(self) -> None:
        faults = book()
        spec = timed(start_after_seconds=2, ramp_up_seconds=2, duration_seconds=5, ramp_down_seconds=2)
        record, _ = faults.put("slow", spec, at_seconds=0.0, next_step=0)
        assert record.effective_from_step is None
        seen = [
            (event.event, event.at_seconds, event.step)
            for second in range(12)
            for event in faults.advance(float(second), second * 5)
        ]
        assert seen == [
            ("started", 2.0, 10),
            ("peaked", 4.0, 20),
            ("recovering", 7.0, 35),
            ("expired", 9.0, 45),
        ]
        assert faults.get("slow").effective_from_step == 10
        assert happened(faults) == [("slow", "created"), *(("slow", event) for event, *_ in seen)]

    def test_a_fault_that_no_tick_felt_never_started(self) -> None:
        faults = book()
        faults.put("blip", timed(start_after_seconds=0.2, duration_seconds=0.2), at_seconds=0.0, next_step=0)
        faults.advance(0.0, 0)
        faults.advance(1.0, 5)
        assert happened(faults) == [("blip", "created"), ("blip", "expired")]
        assert faults.get("blip").effective_from_step is None

    def test_events_that_nobody_fetches_are_bounded(self) -> None:
        faults = book()
        for number in range(MAX_EVENTS):
            faults.put("slow", SLOW, at_seconds=float(number), next_step=number)
            faults.clear("slow", at_seconds=float(number))
        assert len(faults.drain_events()) == MAX_EVENTS
        assert faults.drain_events() == []

    def test_views(self) -> None:
        faults = book()
        faults.put("b", timed(ramp_up_seconds=10, intensity=0.5, target={"mode": "all"}), at_seconds=0.0, next_step=0)
        faults.put("a", SLOW, at_seconds=0.0, next_step=0)
        faults.put("later", timed(start_after_seconds=60), at_seconds=0.0, next_step=0)
        assert faults.active_views(5.0) == [("a", "straggler", "ranks=2", 1.0), ("b", "straggler", "all", 0.25)]


class TestList:
    @pytest.fixture
    def faults(self) -> FaultBook:
        faults = book()
        faults.put("c", SLOW, at_seconds=0.0, next_step=0)
        faults.put("a", FaultSpec("none", open_ended=True), at_seconds=0.0, next_step=0)
        faults.put("b", timed(duration_seconds=5), at_seconds=0.0, next_step=0)
        faults.clear("a", at_seconds=1.0)
        return faults

    @pytest.mark.parametrize(
        ("narrow", "names"),
        [
            ({}, ["a", "b", "c"]),
            ({"state": "active"}, ["b", "c"]),
            ({"state": "cleared"}, ["a"]),
            ({"state": "expired", "at_seconds": 5.0}, ["b"]),
            ({"kind": "straggler"}, ["b", "c"]),
            ({"kind": "straggler", "state": "cleared"}, []),
            ({"rank": 7}, []),
        ],
    )
    def test_narrowed(self, faults: FaultBook, narrow: dict[str, Any], names: list[str]) -> None:
        assert [record.name for record in faults.list(**narrow)] == names

    def test_by_rank(self, faults: FaultBook) -> None:
        expected = [record.name for record in faults.list() if 2 in record.ranks.tolist()]
        assert [record.name for record in faults.list(rank=2)] == expected
        assert "c" in expected
