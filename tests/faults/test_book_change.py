"""A book of faults: changed while they act."""

from __future__ import annotations

from typing import Any

import pytest

from faults.book import FaultBook
from faults.change import FaultChange
from faults.errors import FaultError
from faults.record import FaultRecord
from tests.faults.books import NODE, SLOW, book, happened, timed
from tests.faults.snapshots import is_neutral


class TestChange:
    def change(self, faults: FaultBook, at: float, name: str = "slow", **wanted: Any) -> FaultRecord:
        return faults.change(name, FaultChange.from_mapping(wanted), at_seconds=at, next_step=int(at * 5))

    def test_is_felt_from_the_step_that_it_names(self) -> None:
        faults = book()
        faults.put("slow", SLOW, at_seconds=0.0, next_step=0)
        record = self.change(faults, 4.0, intensity=0.5)
        assert record.effective_from_step == 20
        assert faults.effects(4.0).compute_slowdown.tolist() == [1, 1, 1.25, 1]
        assert happened(faults) == [("slow", event) for event in ("created", "started", "peaked", "changed")]

    def test_everything_at_once(self) -> None:
        faults = book()
        faults.put("slow", SLOW, at_seconds=0.0, next_step=0)
        faults.advance(0.0, 0)
        faults.drain_events()
        self.change(faults, 4.0, intensity=0.5, duration_seconds=60, paused=True)
        events = faults.drain_events()
        assert [(event.event, event.detail) for event in events] == [
            ("changed", "intensity 1 to 0.5, duration open-ended to 60 s"),
            ("paused", ""),
        ]
        assert {event.step for event in events} == {20}

    def test_the_same_again_is_nothing(self) -> None:
        faults = book()
        faults.put("slow", SLOW, at_seconds=0.0, next_step=0)
        before = self.change(faults, 1.0, intensity=0.5)
        faults.drain_events()
        assert self.change(faults, 2.0, intensity=0.5, paused=False) is before
        assert happened(faults) == []

    def test_paused_faults_act_on_nothing_until_they_are_resumed(self) -> None:
        faults = book()
        faults.put("slow", SLOW, at_seconds=0.0, next_step=0)
        self.change(faults, 4.0, paused=True)
        for second in range(5, 60):
            assert faults.advance(float(second), second) == ()
        assert is_neutral(faults.effects(50.0), NODE)
        assert faults.active_views(50.0) == []
        assert faults.get("slow").to_mapping(50.0)["state"] == "active"
        self.change(faults, 60.0, paused=False)
        assert faults.effects(60.0).compute_slowdown.tolist() == [1, 1, 1.5, 1]

    def test_a_pending_fault_starts_later_by_its_pause(self) -> None:
        faults = book()
        faults.put("slow", timed(start_after_seconds=10), at_seconds=0.0, next_step=0)
        self.change(faults, 4.0, paused=True)
        self.change(faults, 24.0, paused=False)
        started = [event.at_seconds for second in range(25, 40) for event in faults.advance(float(second), second)]
        assert started == [30.0, 30.0]

    def test_put_again_while_paused_starts_over(self) -> None:
        faults = book()
        faults.put("slow", timed(duration_seconds=60), at_seconds=0.0, next_step=0)
        self.change(faults, 4.0, paused=True)
        record, created = faults.put("slow", timed(duration_seconds=60), at_seconds=10.0, next_step=50)
        assert not created
        assert (record.is_paused, record.put_at) == (False, 10.0)
        assert happened(faults)[-1] == ("slow", "replaced")

    def test_an_end_that_no_tick_has_seen_counts(self) -> None:
        faults = book()
        faults.put("slow", timed(duration_seconds=5), at_seconds=0.0, next_step=0)
        with pytest.raises(FaultError, match=r"^name: is expired") as caught:
            self.change(faults, 5.0, intensity=0.5)
        assert caught.value.code == "over"

    def test_names_that_are_gone_or_were_never_there(self) -> None:
        faults = book(max_ended=1)
        with pytest.raises(KeyError):
            self.change(faults, 0.0, intensity=0.5)
        for name in ("a", "b"):
            faults.put(name, SLOW, at_seconds=0.0, next_step=0)
            faults.clear(name, at_seconds=1.0)
        for name, detail in (("a", "ended long ago"), ("b", "is cleared")):
            with pytest.raises(FaultError, match=f"^name: {detail}"):
                self.change(faults, 2.0, name, intensity=0.5)

    def test_preview_says_the_same_and_does_nothing(self) -> None:
        faults = book()
        before, _ = faults.put("slow", SLOW, at_seconds=0.0, next_step=0)
        change = FaultChange(intensity=0.5)
        seen = faults.preview_change("slow", change, at_seconds=3.0, next_step=15)
        assert faults.get("slow") is before
        assert faults.change("slow", change, at_seconds=3.0, next_step=15).to_mapping(3.0) == seen.to_mapping(3.0)
