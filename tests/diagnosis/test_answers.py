"""A Prometheus' answers become the series that were scraped."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from diagnosis import answers
from diagnosis.engine import diagnose
from diagnosis.series import GPU_FAMILIES, Series
from exporter.catalogue import BY_NAME
from simulator.names import PHASES, STEP_SECONDS_BUCKETS
from simulator.observation import Floats
from tests.diagnosis.runs import fault, named, seen


def results(series: Series, *, hostname: str = "Hostname") -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The members of a run, and everything else, as a Prometheus answers it."""
    run = {"run": series.run}
    where = [
        {hostname: series.nodes[m.node], "gpu": m.gpu, "UUID": m.uuid, "instance": series.nodes[m.node]}
        for m in series.members
    ]
    ones = np.ones(len(series.times))
    members = [
        _row(series, {"__name__": "training_rank_info", **run, "rank": m.rank, **place}, ones)
        for m, place in zip(series.members, where, strict=True)
    ]
    return members, [_row(series, labels, values) for labels, values in _everything(series, run, where, hostname)]


def _row(series: Series, labels: dict[str, str], values: Floats) -> dict[str, Any]:
    pairs = zip(series.times.tolist(), values.tolist(), strict=True)
    return {"metric": labels, "values": [[time, repr(value)] for time, value in pairs if value == value]}


def _everything(
    series: Series, run: dict[str, str], where: list[dict[str, str]], hostname: str
) -> Iterator[tuple[dict[str, str], Floats]]:
    for index, (member, place) in enumerate(zip(series.members, where, strict=True)):
        mine = {**run, "rank": member.rank}
        for row, phase in enumerate(PHASES):
            name = "training_phase_seconds_total"
            yield {"__name__": name, **mine, "phase": phase}, series.phase_seconds[:, row, index]
        for name, values in series.rank.items():
            yield {"__name__": name, **mine}, values[:, index]
        for name, values in series.gpu.items():
            yield {"__name__": name, **place}, values[:, index]
        yield {"__name__": "exporter_gpu_up", **place, "reason": ""}, series.gpu_up[:, index]
    for node, host in enumerate(series.nodes):
        yield {"__name__": "up", "instance": host}, series.up[:, node]
        for name, values in series.node.items():
            yield {"__name__": name, **run, hostname: host}, values[:, node]
    for index, link in enumerate(series.links):
        for name, values in series.link.items():
            labels = {"__name__": name, **run, hostname: series.nodes[link.node], "device": link.device}
            yield labels, values[:, index]
    for name, values in series.single.items():
        yield {"__name__": name, **run}, values
    bounds = [*map(str, STEP_SECONDS_BUCKETS), "+Inf"]
    for index, bound in enumerate(bounds):
        yield {"__name__": "training_step_seconds_bucket", **run, "le": bound}, series.buckets[:, index]


def answered(series: Series, *, hostname: str = "Hostname") -> Series:
    found = answers.Answers(series.run, series.times)
    members, rest = results(series, hostname=hostname)
    found.add_members(members)
    found.add(rest)
    return found.series()


@pytest.mark.parametrize("hostname", ["Hostname", "hostname"])
def test_nothing_is_lost_on_the_way(hostname: str) -> None:
    series = seen("anatomy-32gpu", fault("straggler", ranks=[9]))
    back = answered(series, hostname=hostname)
    assert back.members == series.members
    assert back.links == series.links
    np.testing.assert_array_equal(back.phase_seconds, series.phase_seconds)
    for one, other in ((back.gpu, series.gpu), (back.rank, series.rank), (back.link, series.link)):
        assert set(one) == set(other)
        for name, values in other.items():
            np.testing.assert_array_equal(one[name], values, err_msg=name)
    for name, values in series.single.items():
        np.testing.assert_array_equal(back.single[name], values, err_msg=name)
    np.testing.assert_array_equal(back.buckets, series.buckets)
    assert named(diagnose(back)) == named(diagnose(series)) == [("straggler", ("9",))]


def test_samples_that_are_missing_stay_missing_and_two_stretches_stand_side_by_side() -> None:
    series = seen("workshop-4gpu")
    found = answers.Answers(series.run, series.times)
    members, _ = results(series)
    found.add_members(members)
    for stretch in (slice(0, 3), slice(8, 12)):
        _, rest = results(series.at(np.arange(len(series.times))[stretch]))
        found.add(rest)
    back = found.series()
    assert np.isfinite(back.phase_seconds).all(axis=(1, 2)).tolist() == [i < 3 or 8 <= i < 12 for i in range(16)]


def test_old_names_of_dcgm_fields_are_known() -> None:
    old = [alias for name in GPU_FAMILIES for alias in BY_NAME[name].aliases]
    assert old
    assert all(any(alias in query for query in answers.queries("r")) for alias in old)


@pytest.mark.parametrize("rubbish", [{}, {"metric": {}, "values": 3}, {"metric": [], "values": []}])
def test_what_is_no_matrix_is_refused(rubbish: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="no matrix"):
        answers.Answers("r", np.arange(3.0)).add([rubbish])


def test_a_run_that_nobody_knows_is_said() -> None:
    with pytest.raises(ValueError, match="knows no rank of it"):
        answers.Answers("r", np.arange(3.0)).series()


def test_a_run_with_a_hostile_name_stays_one_label() -> None:
    assert answers.quoted('a"} or up{x="') == '"a\\"} or up{x=\\""'
