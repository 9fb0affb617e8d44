"""Made-up jobs whose answer is known: the habit of one, the bad luck of all."""

from __future__ import annotations

import numpy as np
import pytest

from diagnosis.ranks.judge import judge
from diagnosis.ranks.table import read_ranks
from diagnosis.verdict import Diagnosis
from simulator.observation import Floats

STEPS, RANKS = 60, 16


def wide(compute: Floats) -> Diagnosis:
    """A file with these seconds per step and rank."""
    header = ",".join(("step", *map(str, range(compute.shape[1]))))
    rows = [",".join((str(step), *map(repr, row.tolist()))) for step, row in enumerate(compute)]
    return judge(read_ranks([header, *rows]), name="made up")


def jittered(rng: np.random.Generator, spread: float = 0.01) -> Floats:
    values: Floats = 1.0 + spread * rng.standard_normal((STEPS, RANKS))
    return values


@pytest.mark.parametrize("seed", range(5))
def test_a_healthy_job_names_nobody(seed: int) -> None:
    assert wide(jittered(np.random.default_rng(seed))).verdicts == ()


@pytest.mark.parametrize("seed", range(5))
def test_uneven_sequences_name_nobody(seed: int) -> None:
    rng = np.random.default_rng(seed)
    uneven = jittered(rng) * (1.0 + 0.6 * (1.5 * rng.random((STEPS, RANKS)) ** 2 - 0.5))
    found = wide(uneven)
    assert [verdict.cause for verdict in found.verdicts] == ["sequence_imbalance"]
    assert found.verdicts[0].culprit is None


@pytest.mark.parametrize("seed", range(5))
def test_pauses_name_nobody(seed: int) -> None:
    rng = np.random.default_rng(seed)
    lines = ["step,rank,phase,seconds"]
    compute, pauses = jittered(rng), np.where(rng.random((STEPS, RANKS)) < 0.1, 0.5, 0.0)
    for step in range(STEPS):
        for rank in range(RANKS):
            lines.append(f"{step},{rank},forward,{float(compute[step, rank])!r}")
            lines.append(f"{step},{rank},gc,{float(pauses[step, rank])!r}")
    found = judge(read_ranks(lines), name="made up")
    assert [verdict.cause for verdict in found.verdicts] == ["gc_pause"]
    assert found.verdicts[0].culprit is None


@pytest.mark.parametrize("factor", [1.2, 1.5, 3.0])
def test_one_slow_rank_is_named_with_what_it_costs(factor: float) -> None:
    compute = jittered(np.random.default_rng(3))
    compute[:, 5] *= factor
    found = wide(compute)
    (verdict,) = found.verdicts
    assert verdict.culprit is not None
    assert (verdict.cause, verdict.culprit.ranks, verdict.chronic) == ("straggler", ("5",), True)
    mean = (RANKS - 1 + factor) / RANKS
    assert found.cost is not None
    assert found.cost.slowdown == pytest.approx(factor / mean, rel=0.03)


def test_bad_luck_in_a_few_steps_is_no_habit() -> None:
    compute = jittered(np.random.default_rng(3))
    compute[:6, 5] *= 3.0
    assert all(verdict.cause != "straggler" for verdict in wide(compute).verdicts)


def test_few_steps_and_a_lone_rank_are_too_thin() -> None:
    compute = jittered(np.random.default_rng(3))
    compute[:, 5] *= 2.0
    assert "4 steps" in wide(compute[:4]).abstained
    assert "no peers" in wide(compute[:, :1]).abstained
