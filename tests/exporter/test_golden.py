"""Four GPUs on one page, committed: every rename shows as a diff. `python -m tests.exporter.test_golden` writes it."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from exporter.page import Page
from exporter.pages import Pages
from simulator.observation import FaultView
from tests.exporter.ticks import StubClock, StubEngine, run_info, tick

DATA = Path(__file__).parent / "data"

_OF_THIS_MACHINE = re.compile(r"^(process_\w+|python_info)\b.*\n", re.MULTILINE)
"""Samples that differ from one machine to the next; their HELP and TYPE lines stay."""


GOLDEN: dict[str, Callable[[Pages], Page]] = {
    "golden_4gpu.prom": lambda pages: pages.all(),
    "golden_4gpu.openmetrics": lambda pages: pages.all("application/openmetrics-text"),
    "golden_truth.prom": lambda pages: pages.truth(),
}


def exposition(file: str) -> str:
    """A page of one synthetic tick, without what depends on the machine."""
    source = tick(run_info(nics=1), faults=(FaultView("slow", "straggler", "ranks 2", 0.5),))
    engine = StubEngine(tick=source, events={("straggler", "active"): 1})
    pages = Pages(engine, clock=StubClock(source.timestamp), version="0.0.0")
    return _OF_THIS_MACHINE.sub("", GOLDEN[file](pages).body.decode())


@pytest.mark.parametrize("file", GOLDEN)
def test_the_exposition_is_the_committed_one(file: str) -> None:
    assert exposition(file) == (DATA / file).read_text(encoding="utf-8")


if __name__ == "__main__":
    for name in GOLDEN:
        (DATA / name).write_text(exposition(name), encoding="utf-8")
