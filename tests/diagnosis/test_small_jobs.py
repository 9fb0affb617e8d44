"""Real jobs of two to four ranks: no median of peers, no boards, waiting not told from transferring."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from diagnosis.engine import diagnose
from diagnosis.verdict import Stage
from tests.diagnosis.jobs import SCRAPE_SECONDS, START, Stretch, job
from tests.diagnosis.runs import named

COLLECTIVE = 0.03


def training(*forward: float, intervals: int = 8, jitter: float = 0.02) -> Stretch:
    """Steps in which the ranks compute for so long."""
    return Stretch(intervals, {"forward": forward, "collective": [COLLECTIVE] * len(forward)}, jitter=jitter)


@pytest.mark.parametrize("ranks", [2, 3, 4])
@pytest.mark.parametrize("added", [0.05, 0.28])
@pytest.mark.parametrize("better", [0, 8])
def test_the_rank_that_is_slow_in_every_interval_is_named(ranks: int, added: float, better: int) -> None:
    healthy = [0.1] * ranks
    slow = [*healthy[:-1], 0.1 + added]
    found = diagnose(job(ranks, training(*healthy, intervals=better), training(*slow, intervals=6)))
    assert named(found)[0] == ("straggler", (str(ranks - 1),))
    assert found.verdicts[0].cost.seconds_per_step == pytest.approx(added, abs=0.006)
    assert found.lost_seconds == {str(ranks - 1): pytest.approx(added, abs=0.006)}
    assert f"rank {ranks - 1}" in found.sentence
    assert found.cost is not None
    assert found.step_seconds is not None
    assert found.cost.seconds_per_step <= found.step_seconds - 0.1


def test_peers_that_differ_among_themselves_hide_nobody() -> None:
    (verdict,) = diagnose(job(3, training(0.100, 0.135, 0.38))).verdicts
    assert verdict.culprit is not None
    assert verdict.culprit.describe() == "rank 2"


@pytest.mark.parametrize("ranks", [2, 3, 4])
@pytest.mark.parametrize("seed", range(10))
def test_ranks_that_differ_by_chance_are_not_accused(ranks: int, seed: int) -> None:
    assert diagnose(job(ranks, training(*[0.1] * ranks, jitter=0.06), seed=seed)).verdicts == ()


@pytest.mark.parametrize("ranks", [2, 3])
def test_another_rank_in_each_interval_is_nobodys_habit(ranks: int) -> None:
    turns = [training(*[0.15 if rank == turn % ranks else 0.1 for rank in range(ranks)], intervals=1)
             for turn in range(8)]  # fmt: skip
    assert all(cause != "straggler" for cause, _ in named(diagnose(job(ranks, *turns))))


def test_nothing_is_said_to_be_well_that_is_not() -> None:
    well = diagnose(job(2, training(0.1, 0.1)))
    assert well.sentence == "nothing to name: every stage of the step is as it should be"
    slow = replace(well, lost_seconds={"1": 0.033})
    assert slow.sentence == "no cause is certain, but rank 1 takes 33 ms per step longer than its peers"
    failed = replace(well, pipeline=(Stage("NCCL settings", "time", "fail", 1.5, 1.02, "ratio", ""),))
    assert failed.sentence == "no cause is certain, but a stage is beyond the threshold: NCCL settings"
    assert replace(well, step_seconds=None).sentence == "no cause is certain, but no step was seen to end"
    assert "33 ms" in replace(slow, pipeline=failed.pipeline).sentence


@pytest.mark.parametrize("phase", ["data_wait", "h2d", "optimizer", "stall"])
def test_a_rank_that_is_slow_elsewhere_than_in_computing_is_at_least_said(phase: str) -> None:
    healthy = {"forward": (0.1, 0.1), "collective": (COLLECTIVE, COLLECTIVE)}
    found = diagnose(job(2, Stretch(8, {**healthy, phase: (0.0, 0.05)}, jitter=0.02)))
    assert found.lost_seconds == {"1": pytest.approx(0.05, abs=0.006)}
    assert "rank 1" in found.sentence


def standing(**phases: tuple[float, ...]) -> Stretch:
    """Four intervals in which no step ends."""
    return Stretch(4, phases, steps=False)


@pytest.mark.parametrize("util", [np.nan, 0.0])
def test_a_job_in_which_nobody_is_inside_a_step_is_down_and_hangs_nowhere(util: float) -> None:
    found = diagnose(job(2, training(0.1, 0.1), standing(stall=(1.0, 1.0)), util=util))
    assert found.verdicts == ()
    assert "the job is down, being started" in found.sentence
    assert "60 s" in found.abstained


def test_a_job_that_hung_and_was_then_stopped_is_down() -> None:
    hung = Stretch(2, {"collective": (1.0, 0.0), "stall": (0.0, 1.0)}, steps=False)
    series = job(2, training(0.1, 0.1), hung, Stretch(2, {"stall": (1.0, 1.0)}, steps=False))
    assert named(diagnose(series, at=START + 10 * SCRAPE_SECONDS)) == [("hang", ("1",))]
    assert named(diagnose(series)) == []


def test_gpus_that_spin_are_no_job_that_is_down() -> None:
    assert named(diagnose(job(2, training(0.1, 0.1), standing(stall=(1.0, 1.0)), util=100.0))) == [("hang", ())]


@pytest.mark.parametrize("where", ["stall", "forward", "data_wait", "checkpoint"])
def test_who_is_not_in_the_collective_is_named_wherever_it_is_stuck(where: str) -> None:
    stuck = Stretch(4, {"collective": (1.0, 0.0, 1.0), where: (0.0, 1.0, 0.0)}, steps=False)
    assert named(diagnose(job(3, training(0.1, 0.1, 0.1), stuck))) == [("hang", ("1",))]


def test_waiting_inside_the_backward_pass_counts_as_waiting() -> None:
    stuck = Stretch(4, {"backward": (1.0, 1.0)}, steps=False, in_collectives=(0.0, 1.0))
    assert named(diagnose(job(2, training(0.1, 0.1), stuck))) == [("hang", ("0",))]


def test_a_rank_whose_series_ended_is_who_never_arrives_unless_its_node_is_silent() -> None:
    series = job(2, training(0.1, 0.1), standing(collective=(1.0, 1.0)))
    series.phase_seconds[-3:, :, 1] = np.nan
    found = diagnose(series)
    assert named(found) == [("hang", ("1",))]
    assert [item.value for item in found.verdicts[0].evidence if item.name == "ranks whose series have ended"] == [1.0]
    series.up[-3:] = 0.0
    assert ("hang", ("1",)) not in named(diagnose(series))


@pytest.mark.parametrize("stopped", [2, 4])
def test_all_is_lost_while_it_stands_and_only_what_was_measured_is_evidence(stopped: int) -> None:
    stuck = Stretch(stopped, {"collective": (1.0, 0.0), "stall": (0.0, 1.0)}, steps=False)
    found = diagnose(job(2, training(0.1, 0.1), stuck), price_per_gpu_hour=2.0)
    (verdict,) = found.verdicts
    assert verdict.cost.wasted_share == 1.0
    assert verdict.cost.price_per_hour == 4.0
    assert all(np.isfinite(item.value) for item in verdict.evidence)
    assert "GPU utilization" not in {item.name for item in verdict.evidence}
    # Steps that ended earlier in the window do not make it cheaper.
    assert (found.cost is None) == (stopped == 4)
    assert found.cost is None or found.cost.wasted_share == 1.0
