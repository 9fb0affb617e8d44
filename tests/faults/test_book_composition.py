"""A book of faults: what holds of several at once, whatever they are."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from faults.book import FaultBook
from faults.change import FaultChange
from faults.errors import FaultError
from faults.spec import FaultSpec
from tests.faults.books import book
from tests.faults.snapshots import is_neutral, snapshot
from tests.faults.strategies import NAMES, TOPOLOGY, changes, lasting_specs, relaxed, specs

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
