"""The shipped rules over simulated runs, one for every kind of fault that exists."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from faults.registry import kinds
from faults.spec import FaultSpec
from rulebook.profile import PRODUCTION
from simulator.headless import start
from simulator.presets import preset
from tests.prometheus.expectations import BEGINS, EXPECTED, STRAGGLING, Case, expected
from tests.prometheus.promtool import ask, fired, firing, named
from tests.prometheus.simulated import scraped

pytestmark = pytest.mark.stack

SEED = 7
EVERY_CASE = [(kind, case) for kind in kinds() for case in EXPECTED.get(kind, (None,))]
"""Kinds come from the registry, so that a new one is tested, or missed, by existing."""


def fault(kind: str, case: Case, *, begins: int = BEGINS, lasts: int | None = None) -> FaultSpec:
    """The fault of a case."""
    end: dict[str, object] = {"open_ended": True} if lasts is None else {"duration_seconds": lasts}
    shared = {"kind": kind, "params": dict(case.params), "intensity": case.intensity, "start_after_seconds": begins}
    return FaultSpec.from_mapping(shared | end)


@pytest.mark.parametrize(
    ("kind", "case"), EVERY_CASE, ids=[f"{kind}: {case.why if case else 'no case'}" for kind, case in EVERY_CASE]
)
def test_a_fault_fires_its_alerts_and_no_others(kind: str, case: Case | None, tmp_path: Path) -> None:
    assert case is not None, expected(kind)
    run = start(preset(case.preset), seed=SEED, faults=[fault(kind, case)])
    end = BEGINS + case.lasts
    stored = scraped(run, seconds=end + 1)
    culprits = [rank for record in run.faults.list() for rank in record.ranks.tolist()] if case.culprits else []
    questions = (
        firing((), at=BEGINS - 5),
        firing(case.fires, at=BEGINS + case.within, among="|".join(sorted(case.fires)) or "none"),
        fired(case.fires | case.traditional, until=end, but=case.may),
        named(STRAGGLING, culprits, until=end),
    )
    assert not (problems := ask(stored, questions, folder=tmp_path)), problems


@pytest.mark.parametrize(
    ("kind", "stays"),
    [("straggler", ()), ("io_starvation", ()), ("hang", ()), ("gpu_lost", ("GpuXidError",))],
)
def test_alerts_end_after_the_fault(kind: str, stays: tuple[str, ...], tmp_path: Path) -> None:
    """All but the last XID of a board, which nothing but a reset clears."""
    case = expected(kind)[0]
    run = start(preset(case.preset), seed=SEED, faults=[fault(kind, case, lasts=60)])
    stored = scraped(run, seconds=BEGINS + 60 + 121)
    questions = (firing(case.fires, at=BEGINS + 60), firing(stays, at=BEGINS + 60 + 120))
    assert not (problems := ask(stored, questions, folder=tmp_path)), problems


def test_waiting_as_ever_is_not_worse_for_having_been_less_of_the_time(tmp_path: Path) -> None:
    """This job waits in the open for data and network: while a rank is slow, a smaller share of a longer step."""
    case = replace(expected("straggler")[0], params={"slowdown": 4.0})
    run = start(preset("anatomy-32gpu"), seed=SEED, faults=[fault("straggler", case, lasts=60)])
    stored = scraped(run, seconds=BEGINS + 60 + 91)
    assert not (problems := ask(stored, [fired(case.fires, until=BEGINS + 60 + 90)], folder=tmp_path)), problems


def test_a_straggler_is_found_half_a_minute_after_the_job_began(tmp_path: Path) -> None:
    case = expected("straggler")[0]
    run = start(preset(case.preset), seed=SEED, faults=[fault("straggler", case, begins=20)])
    stored = scraped(run, seconds=81)
    assert not (problems := ask(stored, [firing(case.fires, at=75)], folder=tmp_path)), problems


@pytest.mark.parametrize(("kind", "place"), [("thermal_throttle", 0), ("io_starvation", 2)])
def test_production_times_name_the_same_causes_later(kind: str, place: int, tmp_path: Path) -> None:
    """On 64 GPUs, where nodes are scraped up to 14 s apart and one rank after the other looks slow for it."""
    case = expected(kind)[place]
    run = start(preset("honest-64xh100"), seed=SEED, faults=[fault(kind, case, begins=120)])
    stored = scraped(run, seconds=361, profile=PRODUCTION)
    culprits = [rank for record in run.faults.list() for rank in record.ranks.tolist()] if case.culprits else []
    questions = (
        firing((), at=120 + PRODUCTION.confirm),
        fired(case.fires, until=360),
        named(STRAGGLING, culprits, until=360),
    )
    assert not (problems := ask(stored, questions, folder=tmp_path, profile=PRODUCTION)), problems
