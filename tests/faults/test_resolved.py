from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from faults.resolved import MOST_LISTED, MOST_RANGES, listing, ranges
from tests.faults.strategies import relaxed


@pytest.mark.parametrize(
    ("ranks", "expected"),
    [([5], [[5, 5]]), ([0, 1, 2], [[0, 2]]), ([0, 2, 3, 9], [[0, 0], [2, 3], [9, 9]])],
)
def test_neighbours_become_ranges(ranks: list[int], expected: list[list[int]]) -> None:
    assert ranges(np.array(ranks), most=10) == expected


@relaxed
@given(st.sets(st.integers(0, 5_000), min_size=1, max_size=3_000))
def test_ranges_hold_exactly_the_ranks(ranks: set[int]) -> None:
    found = ranges(np.array(sorted(ranks)), most=5_000)
    assert {rank for first, last in found for rank in range(first, last + 1)} == ranks
    assert all(first > before[1] + 1 for before, (first, _) in pairwise(found))


@pytest.mark.parametrize("count", [1, MOST_LISTED])
def test_up_to_a_thousand_ranks_are_all_listed(count: int) -> None:
    found = listing(np.arange(count))
    assert found == {
        "resolved_targets": list(range(count)),
        "resolved_count": count,
        "resolved_ranges": [[0, count - 1]],
    }


def test_more_are_counted_and_given_as_ranges() -> None:
    found: dict[str, Any] = listing(np.arange(131_072))
    assert len(found["resolved_targets"]) == MOST_LISTED
    assert found["resolved_count"] == 131_072
    assert found["resolved_ranges"] == [[0, 131_071]]


def test_ranges_are_bounded_too() -> None:
    found: dict[str, Any] = listing(np.arange(0, 131_072, 2))
    assert found["resolved_count"] == 65_536
    assert found["resolved_ranges"] == [[2 * index, 2 * index] for index in range(MOST_RANGES)]
