"""Two jobs of ByteDance, published with their analysis: a slow worker (AR), and a long last stage (ST)."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest

from diagnosis.ranks.judge import judge
from diagnosis.ranks.table import read_ranks
from diagnosis.verdict import Diagnosis

DATA = Path(__file__).parents[2] / "data"
PLACES = ("job", "step", "dp_rank", "stage", "rank")


def long_file(job: str, *, with_steps: bool = True) -> list[str]:
    """The job's operations as a long file, and the durations of its steps."""
    lines = ["step,rank,phase,seconds,dp_rank,stage"]
    with (DATA / "bytedance_rank_step.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            for phase, seconds in row.items():
                if row["job"] == job and phase not in PLACES and seconds:
                    lines.append(f"{row['step']},{row['rank']},{phase},{seconds},{row['dp_rank']},{row['stage']}")
    with (DATA / "bytedance_step_times.csv").open(encoding="utf-8") as file:
        durations = [row for row in csv.DictReader(file) if row["job"] == job]
    return lines + [f"{row['step']},,step,{row['step_s']},," for row in durations if with_steps]


def judged(lines: Iterable[str]) -> Diagnosis:
    return judge(read_ranks(lines), name="a job")


@pytest.mark.parametrize("with_steps", [True, False])
def test_the_slow_worker_is_named_and_the_slowdown_is_its_own(with_steps: bool) -> None:
    found = judged(long_file("AR", with_steps=with_steps))
    (verdict,) = found.verdicts
    assert verdict.cause == "straggler"
    assert verdict.culprit is not None
    assert (verdict.culprit.scope, verdict.culprit.workers, verdict.culprit.ranks) == ("worker", ("0",), ("0",))
    assert verdict.chronic
    assert found.cost is not None
    assert found.cost.slowdown == pytest.approx(1.97, rel=0.10)
    assert verdict.evidence[0].value > 0.95, "nearly all of the slow-down goes with it"
    assert max(found.lost_seconds, key=lambda rank: found.lost_seconds[rank]) == "0"


@pytest.mark.parametrize("with_steps", [True, False])
def test_the_long_stage_is_named_and_no_worker(with_steps: bool) -> None:
    found = judged(long_file("ST", with_steps=with_steps))
    (verdict,) = found.verdicts
    assert verdict.cause == "stage_imbalance"
    assert verdict.culprit is not None
    assert (verdict.culprit.scope, verdict.culprit.stages) == ("stage", ("3",))
    assert found.cost is not None
    assert found.cost.slowdown == pytest.approx(1.18, rel=0.10)


@pytest.mark.parametrize("job", ["AR", "ST"])
def test_order_of_rows_and_names_of_ranks_do_not_matter(job: str) -> None:
    header, *rows = long_file(job)
    shuffled = [rows[index] for index in np.random.default_rng(1).permutation(len(rows))]
    plain = judged([header, *rows])
    again = judged([header, *shuffled])
    assert [(one.cause, one.culprit, one.chronic) for one in again.verdicts] == [
        (one.cause, one.culprit, one.chronic) for one in plain.verdicts
    ]
    assert again.cost is not None
    assert plain.cost is not None
    assert again.cost.slowdown == pytest.approx(plain.cost.slowdown, rel=1e-9)
    cells = [row.split(",") for row in rows]
    renamed = [",".join([step, f"host-{rank}" if rank else "", *rest]) for step, rank, *rest in cells]
    other = judged([header, *renamed])
    assert [verdict.cause for verdict in other.verdicts] == [verdict.cause for verdict in plain.verdicts]
    expected = {f"host-{rank}" for verdict in plain.verdicts if verdict.culprit for rank in verdict.culprit.ranks}
    assert {rank for verdict in other.verdicts if verdict.culprit for rank in verdict.culprit.ranks} == expected


@pytest.mark.parametrize("job", ["AR", "ST"])
def test_half_of_the_steps_say_the_same(job: str) -> None:
    header, *rows = long_file(job)
    steps = sorted({int(row.split(",")[0]) for row in rows})
    half = {str(step) for step in steps[::2]}
    found = judged([header, *(row for row in rows if row.split(",")[0] in half)])
    assert [verdict.cause for verdict in found.verdicts] == [v.cause for v in judged([header, *rows]).verdicts]
