"""The shipped rules over a real job's series: no `collective_wait`, no storage or network, an exporter on each node."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.prometheus.jobs import HEALTHY_MFU, RANKS, Mood, scraped_job
from tests.prometheus.promtool import Question, ask, fired, firing, named

pytestmark = pytest.mark.stack

BEGINS, END = 90, 180
STRAGGLING = "TrainingRankStraggling"
SLOWER = {STRAGGLING, "TrainingMfuLow"}


def ranks(expr: str, expected: set[int], *, at: int) -> Question:
    """A query returns exactly these ranks."""
    return Question(f"group by (rank) ({expr})", at, frozenset((("rank", str(rank)),) for rank in expected))


def runs(expr: str, *, at: int, expected: tuple[str, ...] = ("real",)) -> Question:
    """A query returns exactly these runs."""
    return Question(f"group by (run) ({expr})", at, frozenset((("run", run),) for run in expected))


def test_a_healthy_job_fires_nothing_and_every_rule_about_it_has_a_value(tmp_path: Path) -> None:
    stored = scraped_job({}, seconds=END + 1)
    questions = (
        fired((), until=END),
        runs(f"abs(run:training_mfu:ratio_rate1m - {HEALTHY_MFU}) < 1e-6", at=END),
        runs(f"abs(run:training_mfu_wall:ratio_rate1m - {HEALTHY_MFU}) < 0.004", at=END),
        runs("abs(run:training_step_seconds:mean_rate1m - 0.25) < 1e-6", at=END),
        runs("abs(run:training_tokens_per_gpu:rate1m - 2048) < 40", at=END),
        runs("abs(run:training_communication_exposed:ratio_rate1m - 0.12) < 0.001", at=END),
        runs("run:training_input_late:ratio_rate1m < 0.04", at=END),
        ranks("abs(rank:training_work_excess:ratio_rate1m) < 0.001", set(range(RANKS)), at=END),
        ranks("abs(rank:training_collective_excess:ratio_rate1m) < 0.001", set(range(RANKS)), at=END),
    )
    assert not (problems := ask(stored, questions, folder=tmp_path)), problems


@pytest.mark.parametrize("culprit", [0, 5])
def test_a_straggler_is_named_and_waits_least(culprit: int, tmp_path: Path) -> None:
    stored = scraped_job({BEGINS: Mood(slowdown={culprit: 1.5})}, seconds=END + 1)
    questions = (
        firing((), at=BEGINS),
        firing(SLOWER, at=BEGINS + 60, among="|".join(SLOWER)),
        fired(SLOWER, until=END),
        named(STRAGGLING, [culprit], until=END),
        ranks("rank:training_collective_excess:ratio_rate1m < 0.001", {culprit}, at=END),
        ranks("rank:training_work_excess:ratio_rate1m > 0.4", {culprit}, at=END),
    )
    assert not (problems := ask(stored, questions, folder=tmp_path)), problems


def test_a_slow_loader_is_named_by_its_own_waiting_and_its_rank_does_not_straggle(tmp_path: Path) -> None:
    stored = scraped_job({BEGINS: Mood(late={2: 0.1})}, seconds=END + 1)
    alerts = {"TrainingInputStarved", "TrainingMfuLow"}
    questions = (
        firing(alerts, at=BEGINS + 60),
        fired(alerts, until=END),
        named(STRAGGLING, [], until=END),
        ranks("rank:training_data_wait:ratio_rate1m > 0.2", {2}, at=END),
        ranks("rank:training_collective_excess:ratio_rate1m < 0.001", {2}, at=END),
    )
    assert not (problems := ask(stored, questions, folder=tmp_path)), problems


@pytest.mark.parametrize(
    ("mood", "alerts"),
    [
        (Mood(loss=9.0, spikes=1), {"TrainingGradNormExploding"}),
        (Mood(loss="NaN", spikes=2), {"TrainingGradNormExploding", "TrainingLossNotFinite"}),
        (Mood(loss="+Inf"), {"TrainingLossNotFinite"}),
        (Mood(hangs=True), {"TrainingNoProgress", "TrainingCommunicationExposed"}),
    ],
    ids=["explodes", "diverges", "overflows", "hangs"],
)
def test_what_else_happens_to_a_job_fires_its_alert_and_no_other(mood: Mood, alerts: set[str], tmp_path: Path) -> None:
    stored = scraped_job({BEGINS: mood}, seconds=END + 1)
    questions = (firing((), at=BEGINS - 5), firing(alerts, at=BEGINS + 60), fired(alerts, until=END))
    assert not (problems := ask(stored, questions, folder=tmp_path)), problems


@pytest.mark.parametrize(
    "moods",
    [{BEGINS: Mood(final=True), BEGINS + 1: Mood(gone=True)}, {BEGINS: Mood(gone=True)}],
    ids=["over", "killed"],
)
def test_a_job_that_ends_fires_nothing_and_leaves_nothing(moods: Mapping[int, Mood], tmp_path: Path) -> None:
    stored = scraped_job(moods, seconds=END + 1)
    questions = (fired((), until=END), runs('{__name__=~"training_.*"}', at=END, expected=()))
    assert not (problems := ask(stored, questions, folder=tmp_path)), problems


@pytest.mark.parametrize("pause", [2, 12, 40])
def test_a_job_that_is_started_again_under_its_name_fires_nothing(pause: int, tmp_path: Path) -> None:
    """Its totals fall to nothing, between two scrapes or after a gap."""
    before, after = Mood(spikes=3), Mood(starts_anew=True)
    moods = {0: before, BEGINS: Mood(gone=True, spikes=3), BEGINS + pause: after}
    stored = scraped_job(moods, seconds=END + 31)
    questions = (
        fired((), until=END + 30),
        runs(f"abs(run:training_mfu:ratio_rate1m - {HEALTHY_MFU}) < 1e-6", at=END + 30),
    )
    assert not (problems := ask(stored, questions, folder=tmp_path)), problems


def test_two_jobs_side_by_side_are_two_jobs(tmp_path: Path) -> None:
    stored = scraped_job({}, seconds=END + 1, runs=("a", "b"))
    questions = (
        fired((), until=END),
        runs(f"abs(run:training_mfu:ratio_rate1m - {HEALTHY_MFU}) < 1e-6", at=END, expected=("a", "b")),
        runs("abs(run:training_tokens_per_gpu:rate1m - 2048) < 40", at=END, expected=("a", "b")),
    )
    assert not (problems := ask(stored, questions, folder=tmp_path)), problems
