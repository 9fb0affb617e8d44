"""A book of faults: cleared with and without a ramp, and more than once."""

from __future__ import annotations

import pytest

from tests.faults.books import NODE, SLOW, book, happened, timed
from tests.faults.snapshots import is_neutral


class TestClear:
    def test_at_once(self) -> None:
        faults = book()
        faults.put("slow", SLOW, at_seconds=0.0, next_step=5)
        faults.advance(0.0, 5)
        faults.drain_events()
        record = faults.clear("slow", at_seconds=1.0, next_step=9)
        assert record is not None
        assert record.to_mapping(1.0)["state"] == "cleared"
        (event,) = faults.drain_events()
        assert (event.event, event.at_seconds, event.step) == ("cleared", 1.0, 9)
        assert is_neutral(faults.effects(1.0), NODE)

    def test_with_its_ramp(self) -> None:
        faults = book()
        faults.put("slow", timed(ramp_down_seconds=10, duration_seconds=500), at_seconds=0.0, next_step=0)
        record = faults.clear("slow", at_seconds=20.0)
        assert record is not None
        assert record.level(25.0) == ("recovering", 0.5)
        assert record.to_mapping(25.0)["expires_at"] is None
        faults.advance(30.0, 99)
        assert faults.get("slow").told == "cleared"

    def test_again_changes_nothing(self) -> None:
        faults = book()
        faults.put("slow", timed(ramp_down_seconds=10), at_seconds=0.0, next_step=0)
        faults.clear("slow", at_seconds=20.0)
        record = faults.clear("slow", at_seconds=25.0)
        assert record is not None
        assert record.level(25.0) == ("recovering", 0.5)
        assert record.level(27.5) == ("recovering", 0.25)

    def test_again_at_once_ends_the_recovery(self) -> None:
        faults = book()
        faults.put("slow", timed(ramp_down_seconds=10), at_seconds=0.0, next_step=0)
        faults.clear("slow", at_seconds=20.0)
        record = faults.clear("slow", at_seconds=25.0, immediate=True)
        assert record is not None
        assert record.told == "cleared"
        assert is_neutral(faults.effects(25.0), NODE)

    def test_pending(self) -> None:
        faults = book()
        faults.put("slow", timed(start_after_seconds=60, ramp_down_seconds=10), at_seconds=0.0, next_step=0)
        record = faults.clear("slow", at_seconds=1.0)
        assert record is not None
        assert (record.told, record.effective_from_step) == ("cleared", None)
        assert happened(faults) == [("slow", "created"), ("slow", "cleared")]

    def test_what_has_ended_stays_as_it_is(self) -> None:
        faults = book()
        faults.put("slow", timed(duration_seconds=5), at_seconds=0.0, next_step=0)
        faults.advance(6.0, 9)
        record = faults.clear("slow", at_seconds=7.0)
        assert record is not None
        assert record.told == "expired"

    def test_never_seen(self) -> None:
        with pytest.raises(KeyError):
            book().clear("slow", at_seconds=0.0)
        with pytest.raises(KeyError):
            book().get("slow")

    def test_ended_too_long_ago(self) -> None:
        faults = book(max_ended=1)
        for name in ("a", "b"):
            faults.put(name, SLOW, at_seconds=0.0, next_step=0)
            faults.clear(name, at_seconds=1.0)
        assert faults.clear("a", at_seconds=2.0) is None
        assert [record.name for record in faults.list()] == ["b"]
        assert faults.put("a", SLOW, at_seconds=3.0, next_step=9)[1]
        assert faults.clear("a", at_seconds=4.0) is not None

    def test_all(self) -> None:
        faults = book()
        faults.put("a", SLOW, at_seconds=0.0, next_step=0)
        faults.put("b", timed(ramp_down_seconds=600), at_seconds=0.0, next_step=0)
        faults.clear_all(at_seconds=1.0, next_step=4)
        assert [record.told for record in faults.list()] == ["cleared", "cleared"]
        assert faults.active_views(1.0) == []

    def test_abort(self) -> None:
        faults = book()
        faults.put("a", SLOW, at_seconds=0.0, next_step=0)
        faults.put("b", timed(duration_seconds=600), at_seconds=0.0, next_step=0)
        faults.drain_events()
        faults.abort_all(at_seconds=1.0)
        assert [record.to_mapping(2.0)["state"] for record in faults.list()] == ["aborted", "aborted"]
        assert happened(faults) == [("a", "aborted"), ("b", "aborted")]
        assert is_neutral(faults.effects(2.0), NODE)
        assert faults.get("b").to_mapping(2.0)["expires_at"] is None
