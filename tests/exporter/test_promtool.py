"""What promtool says of our pages: nothing, apart from what dcgm-exporter's contract makes inevitable."""

from __future__ import annotations

import os
import shutil
import subprocess

import pytest

from exporter.pages import Pages
from simulator.observation import FaultView
from tests.exporter.ticks import StubClock, StubEngine, run_info, tick

NO_TOTAL = 'counter metrics should have "_total" suffix'
CAMEL_CASE = "label names should be written in 'snake_case' not 'camelCase'"
TYPE_IN_NAME = "metric name should not include type 'counter'"

COUNTERS_WITHOUT_TOTAL = {
    "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION",
    "DCGM_FI_DEV_PCIE_REPLAY_COUNTER",
    "DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL",
    "DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS",
    "DCGM_FI_DEV_CORRECTABLE_REMAPPED_ROWS",
    "DCGM_FI_DEV_POWER_VIOLATION",
    "DCGM_FI_DEV_THERMAL_VIOLATION",
}
"""DCGM's counters: boards query these very names, so no suffix is added. (`_TOTAL` in capitals is not `_total`.)"""


def lint(body: bytes) -> set[tuple[str, str]]:
    tool = shutil.which("promtool")
    if tool is None:
        if os.environ.get("STEPSCOPE_REQUIRE_STACK") == "1":
            pytest.fail("promtool is not on the PATH")
        pytest.skip("promtool is not on the PATH")
    done = subprocess.run([tool, "check", "metrics"], input=body, capture_output=True, check=False, timeout=60)
    assert done.returncode in (0, 3), done.stderr.decode()
    complaints = (line.partition(" ") for line in done.stderr.decode().splitlines())
    return {(name, complaint) for name, _, complaint in complaints}


def pages() -> Pages:
    source = tick(run_info(ranks=16, gpus_per_node=8, nics=2), faults=(FaultView("slow", "straggler", "ranks 2", 1.0),))
    engine = StubEngine(tick=source, events={("straggler", "active"): 1})
    return Pages(engine, clock=StubClock(source.timestamp))


def test_gpu_families_break_the_rules_that_dcgm_breaks() -> None:
    found = lint(pages().node("node-01").body)
    # Every GPU series carries `modelName`, which dcgm-exporter spells so.
    assert {name for name, complaint in found if complaint == CAMEL_CASE} == {
        name for name in _families(pages().node("node-01").body) if name.startswith("DCGM_")
    }
    assert {name for name, complaint in found if complaint == NO_TOTAL} == COUNTERS_WITHOUT_TOTAL
    # DCGM's name ends in the word.
    assert {name for name, complaint in found if complaint == TYPE_IN_NAME} == {"DCGM_FI_DEV_PCIE_REPLAY_COUNTER"}
    assert {complaint for _, complaint in found} == {CAMEL_CASE, NO_TOTAL, TYPE_IN_NAME}


def test_everything_of_ours_is_clean() -> None:
    assert lint(pages().run().body) == set()
    assert lint(pages().truth().body) == set()
    assert {name for name, _ in lint(pages().all().body)} <= {
        name for name in _families(pages().all().body) if name.startswith("DCGM_")
    }


def test_before_the_first_tick_too() -> None:
    assert lint(Pages(StubEngine(), clock=StubClock()).all().body) == set()


def _families(body: bytes) -> list[str]:
    return [line.split()[2] for line in body.decode().splitlines() if line.startswith("# TYPE ")]
