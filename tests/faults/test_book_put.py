"""A book of faults: put by name and without one."""

from __future__ import annotations

import pytest

from faults.book import FaultBook
from faults.errors import FaultError
from faults.spec import FaultSpec
from tests.faults.books import SLOW, book, happened, timed
from tests.faults.conftest import AddKind
from tests.faults.strategies import TOPOLOGY


class TestPut:
    def test_new(self) -> None:
        faults = book()
        record, created = faults.put("slow", SLOW, at_seconds=3.0, next_step=42)
        assert created
        assert record.ranks.tolist() == [2]
        assert record.effective_from_step == 42
        assert faults.get("slow") is record
        assert happened(faults) == [("slow", "created")]

    def test_same_again_is_nothing(self) -> None:
        faults = book()
        first, _ = faults.put("slow", SLOW, at_seconds=3.0, next_step=42)
        faults.drain_events()
        again, created = faults.put("slow", SLOW, at_seconds=9.0, next_step=80)
        assert not created
        assert again is first
        assert happened(faults) == []

    def test_what_it_shows_is_the_same_again(self) -> None:
        faults = book()
        first, _ = faults.put("slow", FaultSpec("straggler", open_ended=True), at_seconds=0.0, next_step=0)
        assert faults.put("slow", first.spec, at_seconds=1.0, next_step=9)[0] is first

    def test_another_spec_replaces(self) -> None:
        faults = book()
        faults.put("slow", SLOW, at_seconds=0.0, next_step=0)
        faults.advance(0.0, 0)
        record, created = faults.put("slow", timed(params={"slowdown": 2}), at_seconds=5.0, next_step=30)
        assert not created
        assert (record.put_at, record.effective_from_step) == (5.0, 30)
        assert len(faults.list()) == 1
        assert happened(faults)[-1] == ("slow", "replaced")

    def test_same_again_while_recovering_starts_over(self) -> None:
        faults, spec = book(), timed(ramp_down_seconds=60)
        faults.put("slow", spec, at_seconds=0.0, next_step=0)
        faults.clear("slow", at_seconds=1.0)
        record, created = faults.put("slow", spec, at_seconds=2.0, next_step=9)
        assert not created
        assert record.level(2.0) == ("active", 1.0)

    def test_after_its_end_it_is_new(self) -> None:
        faults = book()
        faults.put("slow", SLOW, at_seconds=0.0, next_step=0)
        faults.clear("slow", at_seconds=1.0)
        _, created = faults.put("slow", SLOW, at_seconds=2.0, next_step=9)
        assert created
        assert [record.level(2.0)[0] for record in faults.list()] == ["active"]

    def test_an_end_that_no_tick_has_seen_counts(self) -> None:
        faults = book(max_live=1)
        faults.put("slow", timed(duration_seconds=5), at_seconds=0.0, next_step=0)
        _, created = faults.put("slow", timed(duration_seconds=5), at_seconds=6.0, next_step=9)
        assert created
        faults.put("other", SLOW, at_seconds=12.0, next_step=20)
        assert happened(faults) == [
            ("slow", "created"),
            ("slow", "expired"),
            ("slow", "created"),
            ("slow", "expired"),
            ("other", "created"),
        ]

    def test_bad_name(self) -> None:
        with pytest.raises(FaultError, match=r"^name: "):
            book().put("No", SLOW, at_seconds=0.0, next_step=0)

    def test_target_outside_the_job(self) -> None:
        faults = book()
        with pytest.raises(FaultError, match=r"^target\.value: ranks of this job go from 0 to 3$") as caught:
            faults.put("slow", timed(target={"mode": "ranks", "value": [4]}), at_seconds=0.0, next_step=0)
        assert caught.value.code == "invalid"
        assert faults.list() == []
        assert happened(faults) == []

    def test_unsupported(self, add_kind: AddKind) -> None:
        add_kind("cable", needs=("network",))
        with pytest.raises(FaultError) as caught:
            book().put("cut", FaultSpec("cable", open_ended=True), at_seconds=0.0, next_step=0)
        assert caught.value.code == "unsupported"
        book(TOPOLOGY).put("cut", FaultSpec("cable", open_ended=True), at_seconds=0.0, next_step=0)

    def test_too_many(self) -> None:
        faults = book(max_live=2)
        faults.put("a", SLOW, at_seconds=0.0, next_step=0)
        faults.put("b", SLOW, at_seconds=0.0, next_step=0)
        with pytest.raises(FaultError, match="at most 2 faults") as caught:
            faults.put("c", SLOW, at_seconds=0.0, next_step=0)
        assert caught.value.code == "limit"
        faults.put("a", timed(params={"slowdown": 3}), at_seconds=0.0, next_step=0)
        faults.clear("b", at_seconds=0.0)
        faults.put("c", SLOW, at_seconds=0.0, next_step=0)

    def test_preview_says_the_same_and_does_nothing(self) -> None:
        faults = book()
        seen, created = faults.preview("slow", SLOW, at_seconds=1.0, next_step=7)
        assert created
        assert faults.list() == []
        assert happened(faults) == []
        record, _ = faults.put("slow", SLOW, at_seconds=1.0, next_step=7)
        assert record.to_mapping(1.0) == seen.to_mapping(1.0)

    def test_seed_depends_on_run_and_name_alone(self) -> None:
        spec = FaultSpec("straggler", open_ended=True)
        records = [
            FaultBook(TOPOLOGY, seed=seed).put(name, spec, at_seconds=at, next_step=0)[0]
            for seed, name, at in [(1, "a", 0.0), (1, "a", 50.0), (1, "b", 0.0), (2, "a", 0.0)]
        ]
        seeds = [record.spec.seed for record in records]
        assert seeds[0] == seeds[1]
        assert len(set(seeds)) == 3


class TestUnnamed:
    def test_names_say_the_kind_and_count_up(self) -> None:
        faults = book()
        assert faults.unused_name("straggler") == "straggler-1"
        names = [
            faults.put_unnamed(timed(kind), at_seconds=0.0, next_step=0).name
            for kind in ("straggler", "io_starvation", "straggler")
        ]
        assert names == ["straggler-1", "io-starvation-2", "straggler-3"]

    def test_a_name_that_was_seen_is_not_used_again(self) -> None:
        faults = book(max_ended=1)
        for name in ("straggler-1", "straggler-2", "straggler-3"):
            faults.put(name, SLOW, at_seconds=0.0, next_step=0)
        faults.clear("straggler-1", at_seconds=0.0)
        faults.clear("straggler-2", at_seconds=0.0)
        assert faults.put_unnamed(SLOW, at_seconds=0.0, next_step=0).name == "straggler-4"

    def test_what_is_refused_uses_no_name(self) -> None:
        faults = book(max_live=1)
        faults.put_unnamed(SLOW, at_seconds=0.0, next_step=0)
        with pytest.raises(FaultError, match="at most 1"):
            faults.put_unnamed(SLOW, at_seconds=0.0, next_step=0)
        faults.clear_all(at_seconds=1.0)
        assert faults.put_unnamed(SLOW, at_seconds=2.0, next_step=9).name == "straggler-2"
