"""What holds for every verdict: healthy runs, thin evidence, order, and what must not matter."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from diagnosis.engine import diagnose
from diagnosis.registry import causes
from diagnosis.series import Series
from simulator.presets import PRESETS
from tests.diagnosis.runs import fault, judged, named, seen

SMALL = [name for name, spec in PRESETS.items() if spec.ranks <= 64]
INCIDENTS = {
    "straggler": fault("straggler", ranks=[11]),
    "thermal_throttle": fault("thermal_throttle", ranks=[30]),
    "io_starvation": fault("io_starvation", mode="tail"),
    "network_tail_latency": fault("network_tail_latency"),
}


@pytest.mark.parametrize("preset", SMALL)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_healthy_run_has_nothing_to_name(preset: str, seed: int) -> None:
    found = judged(preset, seed=seed)
    assert found.verdicts == ()
    assert found.lost_seconds == {}
    failed = [stage.name for stage in found.pipeline if stage.outcome == "fail"]
    # Means over a minute vary, and a stage may be just beyond its threshold: that is said, and nobody accused.
    assert ("every stage of the step is as it should be" in found.sentence) == (not failed)
    assert all(name in found.sentence for name in failed)
    assert found.cost is not None
    assert found.cost.slowdown == 1.0


def test_one_scrape_is_too_thin() -> None:
    series = seen("workshop-4gpu", fault("straggler", ranks=[1]))
    found = diagnose(series.at(np.array([5])))
    assert found.verdicts == ()
    assert "1 scrapes" in found.abstained


def test_nothing_after_the_moment_asked_for_is_looked_at() -> None:
    series = seen("workshop-4gpu", fault("straggler", ranks=[1]))
    assert named(diagnose(series, at=119.0)) == []
    assert named(diagnose(series, at=180.0)) == [("straggler", ("1",))]


def renamed(series: Series) -> Series:
    """The same run with other labels, its ranks, nodes and interfaces in another order."""
    rng = np.random.default_rng(7)
    ranks = rng.permutation(series.ranks)
    members = [replace(series.members[old], rank=f"r{series.members[old].rank}") for old in ranks]
    links = rng.permutation(len(series.links))
    return replace(
        series,
        members=tuple(members),
        links=tuple(series.links[old] for old in links),
        phase_seconds=series.phase_seconds[:, :, ranks],
        gpu={name: values[:, ranks] for name, values in series.gpu.items()},
        rank={name: values[:, ranks] for name, values in series.rank.items()},
        link={name: values[:, links] for name, values in series.link.items()},
        gpu_up=series.gpu_up[:, ranks],
    )


@pytest.mark.parametrize("kind", INCIDENTS)
def test_names_and_order_of_the_ranks_do_not_matter(kind: str) -> None:
    series = seen("honest-64xh100", INCIDENTS[kind])
    plain, other = named(diagnose(series)), named(diagnose(renamed(series)))
    assert [(cause, {f"r{rank}" for rank in ranks}) for cause, ranks in plain] == [
        (cause, set(ranks)) for cause, ranks in other
    ]


@pytest.mark.parametrize("kind", INCIDENTS)
def test_the_length_of_the_run_does_not_matter(kind: str) -> None:
    short = named(diagnose(seen("honest-64xh100", INCIDENTS[kind], watched=90)))
    long = named(diagnose(seen("honest-64xh100", INCIDENTS[kind], watched=600)))
    assert short == long != []


@pytest.mark.parametrize("kind", INCIDENTS)
@pytest.mark.parametrize("seed", range(5))
def test_a_tenth_of_the_scrapes_lost_does_not_matter(kind: str, seed: int) -> None:
    series = seen("honest-64xh100", INCIDENTS[kind], every=5)
    rng = np.random.default_rng(seed)
    whole = series.at(np.flatnonzero(rng.random(len(series.times)) >= 0.1))
    assert named(diagnose(whole)) == named(diagnose(series)) != []
    lost = rng.random((len(series.times), len(series.nodes))) < 0.1
    assert named(diagnose(_without(series, lost))) == named(diagnose(series))


def _without(series: Series, lost: np.ndarray) -> Series:
    """The same with failed scrapes of single nodes."""
    ranks = lost[:, series.node_of]
    links = lost[:, [link.node for link in series.links]]
    return replace(
        series,
        phase_seconds=np.where(ranks[:, None, :], np.nan, series.phase_seconds),
        gpu={name: np.where(ranks, np.nan, values) for name, values in series.gpu.items()},
        rank={name: np.where(ranks, np.nan, values) for name, values in series.rank.items()},
        node={name: np.where(lost, np.nan, values) for name, values in series.node.items()},
        link={name: np.where(links, np.nan, values) for name, values in series.link.items()},
        gpu_up=np.where(ranks, np.nan, series.gpu_up),
    )


def test_a_fault_that_is_over_is_an_event_and_one_that_stays_is_chronic() -> None:
    stays = judged("workshop-4gpu", fault("straggler", ranks=[1]))
    assert stays.verdicts[0].chronic
    brief = replace(fault("io_starvation", mode="tail"), open_ended=False, duration_seconds=10.0)
    over = judged("workshop-4gpu", brief, watched=45)
    assert [verdict.cause for verdict in over.verdicts] == ["io_starvation"]
    assert not over.verdicts[0].chronic


def test_a_price_is_put_on_what_is_wasted() -> None:
    found = diagnose(seen("workshop-4gpu", fault("straggler", ranks=[1])), price_per_gpu_hour=2.5)
    cost = found.verdicts[0].cost
    assert cost.price_per_hour == pytest.approx(2.5 * cost.wasted_gpu_hours_per_hour)


def test_every_cause_says_what_to_run_and_what_to_do() -> None:
    for name, cause in causes().items():
        assert cause.name == name
        assert len(cause.title) > 10
        assert cause.confirm
        assert cause.remedy.endswith(".")
