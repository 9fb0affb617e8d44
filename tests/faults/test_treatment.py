"""What may be asked for as a remedy, and what is refused and where."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from faults.book import FaultBook
from faults.course import MOST_TREATMENTS
from faults.effects import Effects, Topology
from faults.errors import FaultError
from faults.remedy import NAME_PATTERN, Remedy
from faults.remedy_registry import remedies
from faults.spec import FaultSpec
from faults.treatment import FIELDS, RemedySpec
from tests.faults.strategies import JSON, check_report, relaxed

NODE = Topology(4, 4)
NODES = {"mode": "nodes", "value": [0]}


def treat(book: FaultBook, **wanted: Any) -> None:
    book.treat(RemedySpec.from_mapping(wanted), at_seconds=1.0, next_step=1, restart_seconds=40.0)


@pytest.mark.parametrize("found", remedies().values(), ids=list(remedies()))
def test_each_says_what_it_is(found: Remedy) -> None:
    import re

    assert re.fullmatch(NAME_PATTERN, found.name)
    assert found.summary.endswith(".")
    assert found.target_modes
    if found.setting is not None:
        assert found.setting.description.endswith(".")
        assert found.setting.choices or (found.setting.minimum is not None and found.setting.maximum is not None)


@pytest.mark.parametrize(
    ("raw", "pointer"),
    [
        ([], ""),
        ({}, "/remedy"),
        ({"remedy": "pray"}, "/remedy"),
        ({"remedy": "NCCL_BUFFSIZE", "value": 1}, "/value"),
        ({"remedy": "NCCL_BUFFSIZE", "value": "4194304"}, "/value"),
        ({"remedy": "NCCL_BUFFSIZE", "value": True}, "/value"),
        ({"remedy": "NCCL_ALGO", "value": "nvls"}, "/value"),
        ({"remedy": "roll_back", "value": 1}, "/value"),
        ({"remedy": "cordon_node"}, "/target"),
        ({"remedy": "cordon_node", "target": {"mode": "nodes"}}, "/target/value"),
        ({"remedy": "cordon_node", "target": {"mode": "ranks", "value": [1]}}, "/target/mode"),
        ({"remedy": "NCCL_ALGO", "target": NODES}, "/target/mode"),
        ({"remedy": "NCCL_ALGO", "node": 3}, "/node"),
    ],
)
def test_what_is_wrong_is_named(raw: object, pointer: str) -> None:
    with pytest.raises(FaultError) as caught:
        RemedySpec.from_mapping(raw)
    assert [problem.pointer for problem in caught.value.problems] == [pointer]


@relaxed
@given(JSON)
def test_whatever_comes_only_a_fault_error_goes(raw: object) -> None:
    try:
        spec = RemedySpec.from_mapping(raw)
    except FaultError as error:
        check_report(error)
    else:
        assert RemedySpec.from_mapping(spec.to_mapping()) == spec


@relaxed
@given(st.sampled_from(FIELDS), JSON)
def test_one_field_replaced_by_anything(key: str, value: object) -> None:
    try:
        RemedySpec.from_mapping({"remedy": "power_limit", key: value})
    except FaultError as error:
        check_report(error)


def test_a_default_is_filled_in() -> None:
    assert RemedySpec.from_mapping({"remedy": "NCCL_BUFFSIZE"}).value == 4_194_304


def test_what_a_job_has_not_cannot_be_put_right() -> None:
    book = FaultBook(NODE, seed=1)
    with pytest.raises(FaultError, match="needs a network") as caught:
        treat(book, remedy="NCCL_BUFFSIZE")
    assert caught.value.code == "unsupported"
    with pytest.raises(FaultError, match="target"):
        treat(book, remedy="cordon_node", target={"mode": "nodes", "value": [7]})
    assert book.treatments == ()


def test_the_same_again_is_kept_once() -> None:
    book = FaultBook(NODE, seed=1)
    for _ in range(3):
        treat(book, remedy="num_workers", value=8)
    assert len(book.treatments) == 1
    book.treat(RemedySpec("restart_job"), at_seconds=2.0, next_step=2, restart_seconds=40.0)
    treat(book, remedy="num_workers", value=8)
    assert [one.spec.remedy for one in book.treatments] == ["num_workers", "restart_job", "num_workers"]


def test_there_is_a_limit_and_a_reset_forgets() -> None:
    book = FaultBook(NODE, seed=1)
    for index in range(MOST_TREATMENTS):
        treat(book, remedy="num_workers", value=1 + index % 2)
    with pytest.raises(FaultError, match="at most 64 remedies") as caught:
        treat(book, remedy="restart_job")
    assert caught.value.code == "limit"
    book.forget_treatments()
    assert book.treatments == ()


def test_the_log_says_what_was_done() -> None:
    book = FaultBook(Topology(16, 8, True), seed=1)
    treat(book, remedy="NCCL_BUFFSIZE", value=8_388_608)
    treat(book, remedy="cordon_node", target={"mode": "nodes", "value": [1]})
    treat(book, remedy="pfc_headroom")
    assert [one.describe() for one in book.treatments] == [
        "NCCL_BUFFSIZE=8388608; the job is down for 40 s",
        "cordon_node, nodes=1; the job is down for 40 s",
        "pfc_headroom",
    ]


def test_to_see_what_it_cured_costs_little_more_than_a_look_at_each_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    book = FaultBook(NODE, seed=1)
    for index in range(64):
        kind = ("straggler", "io_starvation")[index % 2]
        spec = FaultSpec.from_mapping({"kind": kind, "open_ended": True})
        book.put(f"fault-{index}", spec, at_seconds=0.0, next_step=0)
    made = 0
    neutral = Effects.neutral

    def counted(topology: Topology) -> Effects:
        nonlocal made
        made += 1
        return neutral(topology)

    monkeypatch.setattr(Effects, "neutral", counted)
    _, ended = book.treat(
        RemedySpec.from_mapping({"remedy": "cache_on_nvme"}), at_seconds=1.0, next_step=1, restart_seconds=40.0
    )
    assert len(ended) == 32
    assert made <= 64 + len(ended) + 2, "of the largest job each is eleven arrays of a megabyte, and the engine waits"


def test_effects_are_compared_where_they_are() -> None:
    big = Topology(100_000, 8)
    one, other = Effects.neutral(big), Effects.neutral(big)
    tracemalloc.start()
    try:
        assert one.same_as(other)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < one.nic_rate.nbytes, "no copy of even one array"


@pytest.mark.parametrize("name", ["compute_slowdown", "hung", "refresh_seconds", "is_down", "overflow_factor"])
def test_effects_that_differ_anywhere_differ(name: str) -> None:
    one, other = Effects.neutral(NODE), Effects.neutral(NODE)
    value = getattr(other, name)
    if isinstance(value, np.ndarray):
        value[-1] = 2
    else:
        setattr(other, name, 2)
    assert not one.same_as(other)
    assert one.same_as(Effects.neutral(NODE))
