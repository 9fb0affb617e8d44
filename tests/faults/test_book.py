from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from faults.book import MAX_EVENTS, FaultBook
from faults.change import FaultChange
from faults.effects import Topology
from faults.errors import FaultError
from faults.record import FaultRecord
from faults.spec import FaultSpec
from faults.target import Target
from tests.faults.conftest import AddKind
from tests.faults.snapshots import is_neutral, snapshot
from tests.faults.strategies import NAMES, TOPOLOGY, changes, lasting_specs, relaxed, specs

NODE = Topology(4, 4)
SLOW = FaultSpec("straggler", target=Target("ranks", (2,)), open_ended=True)


def book(topology: Topology = NODE, **options: Any) -> FaultBook:
    return FaultBook(topology, seed=1, now=lambda: 1_700_000_000.0, **options)


def timed(kind: str = "straggler", **fields: Any) -> FaultSpec:
    return FaultSpec.from_mapping({"kind": kind, "open_ended": "duration_seconds" not in fields, **fields})


def happened(faults: FaultBook) -> list[tuple[str, str]]:
    return [(event.name, event.event) for event in faults.drain_events()]


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


PUTS = st.dictionaries(NAMES, specs(), max_size=6)
LASTING = st.dictionaries(NAMES, lasting_specs(), min_size=1, max_size=6)


class TestComposition:
    @relaxed
    @given(LASTING, st.randoms(use_true_random=False))
    def test_order_does_not_matter(self, wanted: dict[str, FaultSpec], random: Any) -> None:
        order = list(wanted)
        random.shuffle(order)
        outcomes = []
        for names in (list(wanted), order):
            faults = book(TOPOLOGY)
            for name in names:
                faults.put(name, wanted[name], at_seconds=0.0, next_step=0)
            outcomes.append(snapshot(faults.effects(1.0)))
        assert outcomes[0] == outcomes[1]

    @relaxed
    @given(PUTS, st.floats(0, 1e5))
    def test_effects_are_physical(self, wanted: dict[str, FaultSpec], at: float) -> None:
        faults = book(TOPOLOGY)
        for name, spec in wanted.items():
            faults.put(name, spec, at_seconds=0.0, next_step=0)
        faults.advance(at, 1)
        effects = faults.effects(at)
        assert np.isfinite(effects.compute_slowdown).all()
        assert (effects.compute_slowdown >= 1.0).all()
        period = effects.batch_period_steps
        assert np.isfinite(period).all()
        assert ((period == 0.0) | (period >= 1.0)).all()
        assert all(late.lateness_steps > 0.0 and len(late.ranks) for late in effects.late_batches)

    @relaxed
    @given(PUTS, st.floats(0, 1e5))
    def test_cleared_leaves_nothing(self, wanted: dict[str, FaultSpec], at: float) -> None:
        faults = book(TOPOLOGY)
        for name, spec in wanted.items():
            faults.put(name, spec, at_seconds=0.0, next_step=0)
        faults.advance(at, 1)
        for name in wanted:
            faults.clear(name, at_seconds=at)
        faults.advance(at + 3_601.0, 2)
        assert is_neutral(faults.effects(at + 3_601.0), TOPOLOGY)
        assert faults.active_views(at + 3_601.0) == []
        assert all(record.told in ("cleared", "expired") for record in faults.list())

    @relaxed
    @given(PUTS, st.lists(st.tuples(st.floats(0, 100), changes()), max_size=6))
    def test_cleared_leaves_nothing_whatever_was_changed(
        self, wanted: dict[str, FaultSpec], wishes: list[tuple[float, FaultChange]]
    ) -> None:
        faults = book(TOPOLOGY)
        for name, spec in wanted.items():
            faults.put(name, spec, at_seconds=0.0, next_step=0)
        at = 0.0
        for wait, change in wishes:
            at += wait
            faults.advance(at, 1)
            for name in wanted:
                self.try_to_change(faults, name, change, at)
        for name in wanted:
            faults.clear(name, at_seconds=at)
        faults.advance(at + 3_601.0, 2)
        assert is_neutral(faults.effects(at + 3_601.0), TOPOLOGY)
        assert all(record.told in ("cleared", "expired") for record in faults.list())

    @staticmethod
    def try_to_change(faults: FaultBook, name: str, change: FaultChange, at: float) -> None:
        with suppress(FaultError):
            faults.change(name, change, at_seconds=at, next_step=1)
        assert 0.0 <= faults.get(name).intensity(at) <= 1.0

    @relaxed
    @given(LASTING, st.lists(changes(), min_size=1, max_size=6), st.randoms(use_true_random=False))
    def test_the_order_of_changes_to_several_faults_does_not_matter(
        self, wanted: dict[str, FaultSpec], wishes: list[FaultChange], random: Any
    ) -> None:
        order = list(wanted)
        random.shuffle(order)
        outcomes = []
        for names in (list(wanted), order):
            faults = book(TOPOLOGY)
            for name in wanted:
                faults.put(name, wanted[name], at_seconds=0.0, next_step=0)
            for index, change in enumerate(wishes):
                for name in names:
                    self.try_to_change(faults, name, change, 0.05 * index)
            outcomes.append(snapshot(faults.effects(1.0)))
        assert outcomes[0] == outcomes[1]

    @relaxed
    @given(PUTS, st.floats(0, 1e5))
    def test_reset_leaves_nothing_at_once(self, wanted: dict[str, FaultSpec], at: float) -> None:
        faults = book(TOPOLOGY)
        for name, spec in wanted.items():
            faults.put(name, spec, at_seconds=0.0, next_step=0)
        faults.clear_all(at_seconds=at)
        assert is_neutral(faults.effects(at), TOPOLOGY)

    @relaxed
    @given(LASTING)
    def test_one_fault_more_changes_no_other(self, wanted: dict[str, FaultSpec]) -> None:
        alone = book(TOPOLOGY)
        crowded = book(TOPOLOGY)
        crowded.put("another", FaultSpec("io_starvation", open_ended=True), at_seconds=0.0, next_step=0)
        for name, spec in wanted.items():
            one, _ = alone.put(name, spec, at_seconds=0.0, next_step=0)
            same, _ = crowded.put(name, spec, at_seconds=0.0, next_step=0)
            assert one.to_mapping(0.0) == same.to_mapping(0.0)

    @relaxed
    @given(PUTS, st.lists(st.floats(0, 5_000), min_size=1, max_size=6))
    def test_looking_changes_nothing(self, wanted: dict[str, FaultSpec], times: list[float]) -> None:
        watched, left_alone = book(TOPOLOGY), book(TOPOLOGY)
        for name, spec in wanted.items():
            watched.put(name, spec, at_seconds=0.0, next_step=0)
            left_alone.put(name, spec, at_seconds=0.0, next_step=0)
        for step, at in enumerate(sorted(times)):
            watched.advance(at, step)
            watched.list()
            watched.active_views(at)
        last = max(times)
        assert snapshot(watched.effects(last)) == snapshot(left_alone.effects(last))
