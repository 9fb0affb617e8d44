"""Drivers that do not answer, after the collected scenarios: one board's call never returns, or all are slow."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from exporter.source import SourceError
from tests.exporter.nvml.fake import SCENARIO_VARIABLE, healthy
from tests.exporter.nvml.support import Rig, all_up, board, names, scenario, states, value

ROOT = Path(__file__).parents[3]
SCENARIOS: dict[str, Any] = {found["name"]: found for found in scenario("slow_and_hung.json")["scenarios"]}
HUNG = SCENARIOS["one NVML call blocks for ever"]
SLOW = SCENARIOS["PCIe throughput costs 40 ms per GPU"]
PATIENCE = 0.5
"""Real seconds for a board that will not answer. The others are done long before; nothing fails when they are not."""


def uuid(index: int) -> str:
    return str(healthy(index)["uuid"])


def _boards(count: int = 4) -> list[Any]:
    return [
        healthy(index, gpm=None, energy_mj=lambda now: int(1000 * now), memory_temp_c=None) for index in range(count)
    ]


@pytest.fixture
def hung() -> Iterator[Rig]:
    """Board 2 has answered once, and then never again."""
    rig = Rig(*_boards(), call_timeout_seconds=PATIENCE, max_age_seconds=10.0)
    rig.cycle()
    rig.fake.block(HUNG["call"], HUNG["device"])
    yield rig
    rig.fake.release()


def _threads() -> int:
    return sum(thread.name.startswith("nvml-gpu-2") for thread in threading.enumerate())


class TestOneCallBlocks:
    def test_its_board_drops_out_and_the_others_go_on(self, hung: Rig) -> None:
        stuck, others = uuid(2), [uuid(0), uuid(1), uuid(3)]
        first = value(hung.cycle(), "DEV_TOTAL_ENERGY_CONSUMPTION", stuck)
        for _ in range(9):
            reading = hung.cycle()
            energies = [value(reading, "DEV_TOTAL_ENERGY_CONSUMPTION", other) for other in others]
            assert energies == [int(1000 * hung.clock.now)] * 3
            assert reading.errors == {"timeout": 1}
            assert value(reading, "DEV_TOTAL_ENERGY_CONSUMPTION", stuck) == first
        reading = hung.cycle()
        assert states(reading) == dict.fromkeys(others, "") | {stuck: "timeout"}
        assert names(reading, stuck) == set()
        assert board(reading, stuck).uuid == stuck

    def test_one_thread_is_left_behind(self, hung: Rig) -> None:
        before = _threads()
        for _ in range(30):
            hung.cycle()
        assert _threads() == before
        assert hung.fake.calls[HUNG["call"], HUNG["device"]] == 3  # two before it was stuck

    def test_it_comes_back_with_its_driver(self, hung: Rig) -> None:
        for _ in range(15):
            hung.cycle()
        hung.fake.release()
        reading = hung.cycle_until(all_up)
        assert value(reading, "DEV_TOTAL_ENERGY_CONSUMPTION", uuid(2)) == int(1000 * hung.clock.now)

    def test_nothing_is_shut_down_around_it(self, hung: Rig) -> None:
        hung.cycle()
        hung.fake.devices[0]["raise_all_after_handle"] = 15
        for _ in range(20):
            hung.cycle()
        assert hung.fake.calls["nvmlShutdown", -1] == 0
        hung.source.close()
        assert hung.fake.calls["nvmlShutdown", -1] == 0

    def test_void_handles_are_renewed_around_it(self, hung: Rig) -> None:
        hung.cycle()
        hung.fake._session += 1  # somebody else has shut NVML down
        hung.fake.initialised = 0
        with pytest.raises(SourceError, match="nvmlDeviceGetCount"):
            hung.cycle()
        reading = hung.cycle()
        assert states(reading) == dict.fromkeys(map(uuid, range(4)), "")  # the last word of 2 is not too old yet
        for _ in range(10):
            reading = hung.cycle()
        assert states(reading)[uuid(2)] == "timeout"
        assert states(reading)[uuid(3)] == ""
        hung.fake.release()
        assert hung.cycle_until(all_up).expected == 4

    def test_a_board_that_never_answered_has_no_name(self) -> None:
        rig = Rig(*_boards(2), call_timeout_seconds=PATIENCE)
        rig.fake.block("nvmlDeviceGetHandleByIndex", 1)
        assert states(rig.cycle()) == {uuid(0): "", "index 1": "timeout"}
        rig.fake.release()


class TestTheDriverBlocks:
    @pytest.mark.parametrize("call", ["nvmlInit", "nvmlDeviceGetCount"])
    def test_the_cycle_ends_and_the_call_is_not_made_again(self, call: str) -> None:
        rig = Rig(*_boards(1), call_timeout_seconds=0.05)
        rig.fake.block(call, -1)
        for _ in range(3):
            with pytest.raises(SourceError, match="not answered") as error:
                rig.cycle()
            assert error.value.reason == "timeout"
        assert rig.fake.calls[call, -1] == 1
        rig.fake.release()
        assert states(rig.cycle_until(all_up)) == {uuid(0): ""}

    def test_a_shutdown_that_hangs_is_waited_for(self) -> None:
        rig = Rig(*_boards(2), call_timeout_seconds=0.05)
        rig.cycle()
        rig.fake.block("nvmlShutdown", -1)
        rig.fake.devices.pop()  # another number of boards needs a new session
        # On a busy machine a cycle or two may end before the driver has said how many boards there are.
        rig.cycles_until_error("not answered")
        for _ in range(2):
            with pytest.raises(SourceError, match="not answered"):
                rig.cycle()
        rig.fake.release()
        reading = rig.cycle_until(lambda found: bool(found.families))
        assert states(reading) == {uuid(0): "", uuid(1): "gpu_lost"}
        assert (rig.fake.initialised, rig.fake.calls["nvmlShutdown", -1]) == (1, 1)


def test_slow_calls_are_made_side_by_side_and_cost_one_cycle() -> None:
    rig = Rig(*_boards(SLOW["devices"]), call_timeout_seconds=30.0)
    for index in range(SLOW["devices"]):
        rig.fake.delays["nvmlDeviceGetPcieThroughput", index] = 0.04
    began = rig.clock.now
    reading = rig.cycle()
    assert set(states(reading).values()) == {""}
    assert {value(reading, "PROF_PCIE_TX_BYTES", uuid(index)) for index in range(SLOW["devices"])} == {488_000}
    assert rig.clock.now - began == pytest.approx(1.0 + 2 * 0.04 * SLOW["devices"])


def test_a_fault_of_our_own_costs_one_board(caplog: pytest.LogCaptureFixture) -> None:
    rig = Rig(*_boards(2))
    rig.cycle()
    rig.fake.devices[1]["pcie_replays"] = "many"
    for _ in range(3):
        reading = rig.cycle()
    assert states(reading) == {uuid(0): "", uuid(1): "unknown"}
    assert [record.getMessage() for record in caplog.records if record.exc_info] == ["GPU 1: reading it failed"]
    rig.fake.devices[1]["pcie_replays"] = 1
    assert all_up(rig.cycle())


_PROGRAM = """
import signal, sys, time
from exporter.sources.nvml.source import NvmlSource

source = NvmlSource(hostname="a", call_timeout_seconds=0.2)
source.collect(time.monotonic() + 5.0)
signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
print("stuck", flush=True)
try:
    signal.pause()
finally:
    source.close()
"""


def test_the_process_ends_without_the_stuck_call(tmp_path: Path) -> None:
    path = tmp_path / "scenario.json"
    device = {name: had for name, had in healthy(0).items() if name != "gpm"}
    path.write_text(json.dumps({"devices": [device], "blocks": [[HUNG["call"], 0]]}), encoding="utf-8")
    environment = os.environ | {
        SCENARIO_VARIABLE: str(path),
        "PYTHONPATH": os.pathsep.join((str(ROOT / "tests" / "exporter" / "nvml" / "fakelib"), str(ROOT))),
    }
    process = subprocess.Popen([sys.executable, "-c", _PROGRAM], stdout=subprocess.PIPE, text=True, env=environment)
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "stuck\n"
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=60) == 0
    finally:
        process.kill()
        process.communicate()
