"""The way from recorders' reports to promtool's series; what the rules make of them needs promtool (tests/stack)."""

from __future__ import annotations

import pytest

from exporter.catalogue import NODE_FAMILIES
from tests.prometheus.jobs import HEALTHY_MFU, PEAK, RANKS, Mood, TinyJob, scraped_job
from tests.prometheus.simulated import families_read


def test_what_the_rules_read_of_a_job_is_there_but_for_what_a_process_cannot_see() -> None:
    stored = scraped_job({}, seconds=31)
    names = {series.partition("{")[0] for series in stored.values}
    missing = {name for name in families_read() - names if name.startswith("training_")}
    assert missing == {family.name for family in NODE_FAMILIES} & families_read()
    assert not [series for series in stored.values if 'phase="collective_wait"' in series]
    assert stored.values['training_peak_flops_per_second{run="real",instance="node-0:9401",job="gpu-nodes"}'] == [
        str(RANKS * PEAK)
    ] * len(stored.values['up{instance="node-0:9401",job="gpu-nodes"}'])


def test_each_node_shows_its_own_ranks_and_one_of_them_the_run() -> None:
    stored = scraped_job({}, seconds=11)
    places = {
        (series.partition('rank="')[2].partition('"')[0], series.partition('instance="')[2].partition('"')[0])
        for series in stored.values
        if series.startswith("training_rank_info{")
    }
    assert places == {(str(rank), f"node-{rank // 4}:9401") for rank in range(RANKS)}
    assert [s for s in stored.values if s.startswith("training_last_step_timestamp_seconds{")] == [
        'training_last_step_timestamp_seconds{run="real",instance="node-0:9401",job="gpu-nodes"}'
    ]


def test_a_job_that_is_gone_leaves_a_gap_and_no_value_that_stands_still() -> None:
    for mood in (Mood(gone=True), Mood(final=True)):
        stored = scraped_job({30: mood, 31: Mood(gone=True)}, seconds=66)
        for series, values in stored.values.items():
            if series.startswith("training_"):
                assert values[6] not in ("_", "stale")
                assert values[11:] in (["stale", "_", "_"], ["_", "_", "_"]), series


def test_the_tiny_job_adds_up() -> None:
    job = TinyJob("a")
    for _ in range(20):
        job.advance(Mood(slowdown={3: 1.5}, late={1: 0.01}))
    for phases in job.phases:
        assert sum(phases.values()) == pytest.approx(20.0)
    assert job.phases[3]["collective"] == min(phases["collective"] for phases in job.phases)
    assert pytest.approx(0.2) == HEALTHY_MFU
