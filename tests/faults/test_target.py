from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from faults.checks import Checker
from faults.effects import Topology
from faults.errors import FaultError
from faults.target import Mode, Target
from tests.faults.strategies import JSON, relaxed

CLUSTER = Topology(ranks=10, gpus_per_node=4)
"""Its third node is half full."""
SEEDS = st.integers(0, 2**32 - 1)
TOPOLOGIES = st.builds(Topology, st.integers(1, 300), st.integers(1, 8))


def checked(raw: Any) -> Target:
    check = Checker()
    target = Target.checked(raw, check)
    check.finish()
    assert target is not None
    return target


@pytest.mark.parametrize(
    ("raw", "target", "ranks"),
    [
        ({"mode": "all"}, Target("all"), list(range(10))),
        ({"mode": "all", "value": None}, Target("all"), list(range(10))),
        ({"mode": "ranks", "value": [5, 2]}, Target("ranks", (2, 5)), [2, 5]),
        ({"mode": "nodes", "value": [2, 0]}, Target("nodes", (0, 2)), [0, 1, 2, 3, 8, 9]),
        ({"mode": "count", "value": 10}, Target("count", 10), list(range(10))),
        ({"mode": "percent", "value": 100}, Target("percent", 100.0), list(range(10))),
    ],
)
def test_targets_without_chance(raw: dict[str, Any], target: Target, ranks: list[int]) -> None:
    assert checked(raw) == target
    resolved = target.resolve(CLUSTER, seed=0)
    assert resolved.tolist() == ranks
    assert resolved.dtype == np.int64


@pytest.mark.parametrize(
    ("target", "size"),
    [
        (Target("one"), 1),
        (Target("count", 3), 3),
        (Target("percent", 25.0), 3),
        (Target("percent", 0.001), 1),
        (Target("percent", 99.0), 10),
    ],
)
def test_sizes_of_drawn_targets(target: Target, size: int) -> None:
    assert len(target.resolve(CLUSTER, seed=5)) == size


def test_nodes_without_a_value_is_one_whole_node() -> None:
    found = {tuple(Target("nodes").resolve(CLUSTER, seed).tolist()) for seed in range(50)}
    assert found == {(0, 1, 2, 3), (4, 5, 6, 7), (8, 9)}


def test_every_rank_can_be_the_one() -> None:
    assert {int(Target("one").resolve(CLUSTER, seed)[0]) for seed in range(200)} == set(range(10))


@relaxed
@given(TOPOLOGIES, SEEDS, st.data())
def test_drawn_ranks_exist_once_and_in_order(topology: Topology, seed: int, data: st.DataObject) -> None:
    count = data.draw(st.integers(1, topology.ranks))
    ranks = Target("count", count).resolve(topology, seed)
    assert len(ranks) == count
    assert ranks.tolist() == sorted(set(ranks.tolist()))
    assert 0 <= ranks[0] <= ranks[-1] < topology.ranks
    assert Target("count", count).resolve(topology, seed).tolist() == ranks.tolist()


@relaxed
@given(TOPOLOGIES, SEEDS)
def test_a_larger_count_contains_the_smaller(topology: Topology, seed: int) -> None:
    one = set(Target("one").resolve(topology, seed).tolist())
    half = set(Target("percent", 50.0).resolve(topology, seed).tolist())
    most = set(Target("count", topology.ranks).resolve(topology, seed).tolist())
    assert one <= half <= most


@pytest.mark.parametrize(
    ("raw", "pointer", "detail"),
    [
        (3, "/target", "must be an object"),
        ({}, "/target/mode", "must be one of all, one, count, percent, ranks, nodes, not null"),
        ({"mode": "some"}, "/target/mode", "not 'some'"),
        ({"mode": "all", "value": 1}, "/target/value", "must be left out when mode is all"),
        ({"mode": "one", "value": 1}, "/target/value", "must be left out when mode is one"),
        ({"mode": "count"}, "/target/value", "must be an integer of at least 1, not null"),
        ({"mode": "count", "value": 0}, "/target/value", "must be an integer of at least 1"),
        ({"mode": "count", "value": True}, "/target/value", "not true"),
        ({"mode": "percent", "value": 0}, "/target/value", "must be a number above 0 and up to 100"),
        ({"mode": "percent", "value": 101}, "/target/value", "not 101"),
        ({"mode": "percent", "value": math.nan}, "/target/value", "not nan"),
        ({"mode": "ranks"}, "/target/value", "must be a non-empty array of ranks"),
        ({"mode": "ranks", "value": []}, "/target/value", "must be a non-empty array of ranks"),
        ({"mode": "ranks", "value": "12"}, "/target/value", "must be a non-empty array of ranks"),
        ({"mode": "ranks", "value": [1, 1]}, "/target/value", "must name none of the ranks twice"),
        ({"mode": "ranks", "value": [1, -1]}, "/target/value/1", "must be an integer of at least 0, not -1"),
        ({"mode": "nodes", "value": [0.5]}, "/target/value/0", "must be an integer of at least 0, not 0.5"),
        ({"mode": "nodes", "value": 0}, "/target/value", "must be a non-empty array of nodes"),
        ({"mode": "all", "rank": 1}, "/target/rank", "is not a key of target; valid keys: mode, value"),
    ],
)
def test_refused(raw: Any, pointer: str, detail: str) -> None:
    with pytest.raises(FaultError) as caught:
        checked(raw)
    (problem,) = caught.value.problems
    assert problem.pointer == pointer
    assert detail in problem.detail


@pytest.mark.parametrize(
    ("target", "detail"),
    [
        (Target("ranks", (0, 10)), "ranks of this job go from 0 to 9"),
        (Target("ranks", (10**400,)), "ranks of this job go from 0 to 9"),
        (Target("nodes", (3,)), "nodes of this job go from 0 to 2"),
        (Target("count", 11), "must be at most 10, the number of ranks of this job"),
        (Target("count", 10**400), "must be at most 10, the number of ranks of this job"),
    ],
)
def test_what_the_cluster_lacks(target: Target, detail: str) -> None:
    with pytest.raises(FaultError) as caught:
        target.resolve(CLUSTER, seed=0)
    (problem,) = caught.value.problems
    assert (problem.pointer, problem.detail) == ("/target/value", detail)


@relaxed
@given(JSON | st.fixed_dictionaries({"mode": st.sampled_from(["count", "percent", "ranks", "nodes"]), "value": JSON}))
def test_json_gives_a_target_or_problems(raw: Any) -> None:
    check = Checker()
    target = Target.checked(raw, check)
    if target is None:
        assert check.error().problems
    else:
        assert checked(target.to_mapping()) == target
        hash(target)


@pytest.mark.parametrize(
    ("mode", "value", "text"),
    [
        ("all", None, "all"),
        ("ranks", (2, 5), "ranks=2+5"),
        ("nodes", (0, 2), "nodes=0+2"),
        ("percent", 100.0, "ranks=0+1+2+3+4+5+6+7 and 2 more"),
    ],
)
def test_description(mode: Mode, value: Any, text: str) -> None:
    target = Target(mode, value)
    assert target.describe(target.resolve(CLUSTER, seed=1), CLUSTER) == text
