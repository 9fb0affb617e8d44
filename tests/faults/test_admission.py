from __future__ import annotations

import pytest

from faults.admission import completed, derived_seed
from faults.effects import Topology
from faults.errors import FaultError
from faults.spec import FaultSpec
from faults.target import Target
from tests.faults.conftest import AddKind

NODE = Topology(4, 4)
CLUSTER = Topology(8, 4, overlaps_nodes=True)


def test_derived_seeds_are_the_same_everywhere_and_for_ever() -> None:
    assert derived_seed(0, "a") == 3_542_182_797
    assert derived_seed(1, "film") == 3_879_544_036


def test_derived_seeds_differ_by_run_and_by_name() -> None:
    seeds = {derived_seed(run, name) for run in range(50) for name in ("a", "b", "c")}
    assert len(seeds) == 150
    assert all(0 <= seed < 2**32 for seed in seeds)


def test_fills_in_target_and_seed() -> None:
    spec = completed("a", FaultSpec("straggler", open_ended=True), topology=NODE, run_seed=3)
    assert (spec.target, spec.seed, dict(spec.params)) == (Target("one"), derived_seed(3, "a"), {"slowdown": 1.5})


def test_keeps_what_was_asked_for() -> None:
    wish = FaultSpec("straggler", target=Target("ranks", (2,)), seed=0, open_ended=True)
    spec = completed("a", wish, topology=NODE, run_seed=3)
    assert (spec.target, spec.seed) == (wish.target, 0)


def test_a_spec_made_by_hand_is_checked() -> None:
    with pytest.raises(
        FaultError, match=r"params\.slowdown: must be a number from 1\.05 to 4, not 8.*duration_seconds"
    ):
        completed("a", FaultSpec("straggler", params={"slowdown": 8}), topology=NODE, run_seed=3)


def test_what_a_job_cannot_show_is_unsupported(add_kind: AddKind) -> None:
    add_kind("cable", needs=("network",))
    wish = FaultSpec("cable", open_ended=True)
    assert completed("a", wish, topology=CLUSTER, run_seed=0).kind == "cable"
    with pytest.raises(FaultError, match="kind: cable needs a network between nodes") as caught:
        completed("a", wish, topology=NODE, run_seed=0)
    assert caught.value.code == "unsupported"
    assert [problem.pointer for problem in caught.value.problems] == ["/kind"]
