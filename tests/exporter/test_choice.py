"""Which sources `auto` takes, when it changes its mind, and what it says of it."""

from __future__ import annotations

import logging

import pytest

from exporter.choice import Chooser
from exporter.reading import Reading
from exporter.state import State
from tests.exporter.nodes import board, reading

NONE: dict[str, int] = {}
GOOD = reading(board(0))
NO_GPU = Reading(families={}, gpus=(), expected=0)


def state(source: str, found: Reading | None = None, *, reason: str = "", last: Reading | None = None) -> State:
    return State(
        source=source, up=not reason, reason=reason, detail=f"because of {reason}", reading=found,
        last=found or last, errors=NONE, dropped=NONE, skipped=NONE,
    )  # fmt: skip


def chosen(chooser: Chooser, *states: State) -> dict[str, tuple[bool, str]]:
    return {choice.source: (choice.chosen, choice.reason) for choice in chooser.choose(states)}


@pytest.mark.parametrize("reason", ["", "library_not_found", "starting", "unknown"])
def test_what_was_asked_for_is_used_whatever_happens(reason: str) -> None:
    assert chosen(Chooser(["nvml"], auto=False), state("nvml", reason=reason)) == {"nvml": (True, "asked")}
    assert chosen(Chooser(["nvml"], auto=True), state("nvml", reason=reason)) == {"nvml": (True, "asked")}


@pytest.mark.parametrize(
    ("found", "reason", "expected"),
    [
        (None, "starting", (False, "starting")),
        (None, "library_not_found", (False, "library_not_found")),
        (None, "driver_not_loaded", (False, "driver_not_loaded")),
        (None, "version_mismatch", (True, "version_mismatch")),
        (None, "hung", (True, "hung")),
        (NO_GPU, "", (False, "no_gpus")),
        (GOOD, "", (True, "gpus_found")),
    ],
)
def test_auto_takes_gpus_and_faults_of_a_driver_and_not_their_absence(
    found: Reading | None, reason: str, expected: tuple[bool, str]
) -> None:
    assert chosen(Chooser([], auto=True), state("nvml", found, reason=reason)) == {"nvml": expected}


def test_auto_takes_a_dcgm_exporter_that_answers() -> None:
    chooser = Chooser([], auto=True)
    assert chosen(chooser, state("dcgm", reason="connection")) == {"dcgm": (False, "connection")}
    assert chosen(chooser, state("dcgm", GOOD)) == {"dcgm": (True, "answers")}


def test_what_was_found_once_stays_so_that_its_loss_is_seen() -> None:
    chooser = Chooser([], auto=True)
    chosen(chooser, state("nvml", GOOD), state("dcgm", GOOD))
    lost = chosen(chooser, state("nvml", reason="library_not_found", last=GOOD), state("dcgm", reason="x", last=GOOD))
    assert lost == {"nvml": (True, "gpus_found"), "dcgm": (True, "answers")}


def test_a_driver_that_comes_up_later_is_taken() -> None:
    chooser = Chooser([], auto=True)
    seen = [
        chosen(chooser, state("nvml", found, reason=reason))["nvml"][0]
        for found, reason in ((None, "library_not_found"), (NO_GPU, ""), (GOOD, ""), (NO_GPU, ""))
    ]
    assert seen == [False, False, True, True]


def test_the_log_says_what_was_chosen_and_why_once(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="exporter")
    chooser = Chooser([], auto=True)
    for _ in range(3):
        chosen(chooser, state("nvml", reason="starting"), state("dcgm", reason="starting"))
    for _ in range(3):
        chosen(chooser, state("nvml", GOOD), state("dcgm", reason="connection"))
    for _ in range(3):
        chosen(chooser, state("nvml", GOOD), state("dcgm", GOOD))
    assert [record.message for record in caplog.records] == [
        "nvml: used: there are GPUs on this machine",
        "dcgm: not used: because of connection",
        "dcgm: used for the profiling fields: a dcgm-exporter answers",
    ]
