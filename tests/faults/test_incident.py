"""Random incidents: a function of their seed, fit for the job, and with decoys that are over or too small."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faults import registry
from faults.book import FaultBook
from faults.effects import Topology
from faults.incident import STANDSTILLS, random_incident

SMALL = Topology(4, 4)
LARGE = Topology(64, 8, overlaps_nodes=True)
SEEDS = st.integers(0, 2**31 - 1)


@given(SEEDS, st.sampled_from([SMALL, LARGE]), st.integers(0, 2))
def test_the_same_seed_gives_the_same_incident_and_every_one_fits_its_job(
    seed: int, topology: Topology, causes: int
) -> None:
    incident = random_incident(seed, topology, causes=causes)
    assert incident == random_incident(seed, topology, causes=causes)
    assert len(incident.causes) == causes == len({cause.kind for cause in incident.causes})
    book = FaultBook(topology, seed=seed)
    for name, fault in incident.faults():
        book.put(name, fault, at_seconds=0.0, next_step=0)
    acting = {record.name for record in book.acting(incident.onset_seconds + 1.0)}
    assert {f"cause-{number}" for number in range(1, causes + 1)} <= acting
    before = {record.name for record in book.acting(incident.onset_seconds - 1.0)}
    assert not any(name.startswith("cause") for name in before)


@given(SEEDS)
def test_a_decoy_that_ends_is_over_before_anything_sets_in(seed: int) -> None:
    incident = random_incident(seed, LARGE, decoy_share=5.0)
    for name, fault in incident.faults():
        if name.startswith("decoy") and fault.duration_seconds is not None:
            assert fault.start_after_seconds + fault.duration_seconds < incident.onset_seconds - 60.0


@given(SEEDS)
def test_what_would_hide_another_cause_comes_alone(seed: int) -> None:
    kinds = {cause.kind for cause in random_incident(seed, LARGE, causes=2).causes}
    assert not kinds & STANDSTILLS


def test_every_kind_that_breaks_anything_is_drawn_sooner_or_later() -> None:
    drawn = {random_incident(seed, replace(LARGE, ranks=1_024)).causes[0].kind for seed in range(400)}
    drawn |= {random_incident(seed, replace(SMALL, scales_loss=True)).causes[0].kind for seed in range(200)}
    assert drawn == set(registry.kinds()) - {"none"}


def test_a_choice_of_kinds_is_kept_and_too_few_are_refused() -> None:
    assert random_incident(3, SMALL, kinds=["hang"]).causes[0].kind == "hang"
    with pytest.raises(ValueError, match="kinds: 1 causes are asked for and 0 kinds fit"):
        random_incident(3, SMALL, kinds=["network_tail_latency"])
