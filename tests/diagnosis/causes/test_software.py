"""Stalls that hit another rank each time: nobody is named, and they are told apart."""

from __future__ import annotations

import pytest

from tests.diagnosis.runs import fault, judged, named


@pytest.mark.parametrize("preset", ["workshop-4gpu", "honest-64xh100"])
@pytest.mark.parametrize("kind", ["gc_pause", "sequence_imbalance"])
def test_pauses_and_uneven_batches(preset: str, kind: str) -> None:
    assert named(judged(preset, fault(kind))) == [(kind, ())]


@pytest.mark.parametrize("seed", range(3, 9))
def test_uneven_batches_name_nobody_whatever_the_draw(seed: int) -> None:
    assert named(judged("honest-64xh100", fault("sequence_imbalance"), seed=seed)) == [("sequence_imbalance", ())]


def test_a_slow_rank_among_uneven_batches_is_named() -> None:
    both = fault("straggler", ranks=[2], severity="mild"), fault("sequence_imbalance", severity="mild")
    assert ("straggler", ("2",)) in named(judged("honest-64xh100", *both))


@pytest.mark.parametrize("severity", ["mild", "moderate", "severe"])
def test_checkpoints_that_hold_the_job_up(severity: str) -> None:
    found = judged("workshop-4gpu", fault("checkpoint_stall", severity=severity))
    assert named(found)[0] == ("checkpoint_stall", ())


def test_the_checkpoints_that_a_job_writes_anyway_are_none_of_them() -> None:
    # Every 250 steps, 8 s: one falls into these 20 minutes' last windows now and then.
    assert named(judged("honest-64xh100", watched=900)) == []


@pytest.mark.parametrize("severity", ["mild", "moderate", "severe"])
def test_shards_that_are_opened_late(severity: str) -> None:
    assert named(judged("workshop-4gpu", fault("shard_boundary", severity=severity))) == [("shard_boundary", ())]
