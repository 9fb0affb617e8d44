"""NVML as it has failed others: errors per board and call, a driver that comes and goes, boards that come and go."""

from __future__ import annotations

import logging
from collections import Counter

import pytest

from exporter.catalogue import GPU_LABELS
from exporter.reading import Reading
from exporter.source import SourceError
from tests.exporter.nvml.fake import healthy
from tests.exporter.nvml.support import HOSTNAME, Rig, board, names, rows, scenario, states, value

MEMORY = {"DEV_FB_FREE", "DEV_FB_USED", "DEV_FB_RESERVED"}
UTIL = {"DEV_GPU_UTIL", "DEV_MEM_COPY_UTIL"}


def uuid(index: int) -> str:
    return str(healthy(index)["uuid"])


@pytest.fixture(scope="module")
def broken() -> Reading:
    return Rig(scenario=scenario("per_device_errors.json")).cycle()


class TestErrorsPerBoard:
    def test_who_is_up(self, broken: Reading) -> None:
        assert states(broken) == {uuid(index): "" for index in (0, 2, 3, 5, 6, 7)} | {
            uuid(1): "gpu_lost",
            "index 4": "gpu_lost",
        }
        assert broken.expected == 8
        assert board(broken, "index 4").uuid == ""

    def test_units(self, broken: Reading) -> None:
        assert {name: value(broken, name, uuid(0)) for name in names(broken, uuid(0))} == {
            "DEV_POWER_USAGE": 612.345, "DEV_FB_USED": 11125, "DEV_FB_FREE": 69956, "DEV_FB_RESERVED": 478,
            "DEV_TOTAL_ENERGY_CONSUMPTION": 129931554972, "PROF_PCIE_TX_BYTES": 488000, "PROF_PCIE_RX_BYTES": 341000,
            "DEV_GPU_UTIL": 97, "DEV_MEM_COPY_UTIL": 41, "DEV_GPU_TEMP": 58, "DEV_SM_CLOCK": 1980,
            "DEV_MEM_CLOCK": 2619,
        }  # fmt: skip

    def test_labels_are_decoded_and_in_order(self, broken: Reading) -> None:
        labels = rows(broken, "DEV_POWER_USAGE", uuid(0))[0].labels
        values = ("0", uuid(0), "00000000:1A:00.0", "nvidia0", "NVIDIA H100 80GB HBM3", HOSTNAME, "550.90.07")
        assert labels == tuple(zip(GPU_LABELS, values, strict=True))
        assert dict(board(broken, uuid(5)).labels)["modelName"] == "unknown"

    @pytest.mark.parametrize(
        ("index", "expected"),
        [
            (1, set()),
            (2, MEMORY | {"DEV_POWER_USAGE", "DEV_GPU_TEMP"}),
            (3, UTIL | {"DEV_POWER_USAGE", "DEV_GPU_TEMP"}),
            (5, MEMORY | UTIL | {"DEV_POWER_USAGE", "DEV_GPU_TEMP"}),
            (6, MEMORY - {"DEV_FB_RESERVED"} | UTIL | {"DEV_POWER_USAGE", "DEV_GPU_TEMP"}),
            (7, MEMORY | UTIL),
        ],
    )
    def test_what_is_there(self, broken: Reading, index: int, expected: set[str]) -> None:
        assert names(broken, uuid(index)) == expected

    def test_a_zero_is_a_zero(self, broken: Reading) -> None:
        assert value(broken, "DEV_GPU_UTIL", uuid(3)) == 0
        assert value(broken, "DEV_POWER_USAGE", uuid(3)) == 11.17

    def test_a_lost_board_counts_once_per_cycle(self, broken: Reading) -> None:
        assert broken.errors == {"gpu_lost": 2, "timeout": 1, "no_permission": 1, "unknown": 1}

    def test_only_what_may_pass_is_asked_again(self) -> None:
        rig = Rig(scenario=scenario("per_device_errors.json"))
        rig.cycle()
        before = Counter(rig.fake.calls)
        rig.cycle(after=0.5)  # before the lost boards have the session begun anew
        asked = {call for call in rig.fake.calls if rig.fake.calls[call] > before[call]}
        assert ("nvmlDeviceGetUtilizationRates", 2) not in asked
        assert ("nvmlDeviceGetTotalEnergyConsumption", 3) not in asked
        assert ("nvmlDeviceGetClockInfo", 6) not in asked
        assert {
            ("nvmlDeviceGetPcieThroughput", 5), ("nvmlDeviceGetPowerUsage", 7), ("nvmlDeviceGetTemperature", 7),
        } <= asked  # fmt: skip
        assert rig.fake.calls["nvmlInit", -1] == 1

    def test_what_passes_comes_back(self) -> None:
        rig = Rig(scenario=scenario("per_device_errors.json"))
        rig.cycle()
        rig.fake.devices[5]["raises"] = {}
        rig.fake.devices[5]["pcie_kib_s"] = [7, 8]
        assert value(rig.cycle(), "PROF_PCIE_TX_BYTES", uuid(5)) == 7000

    def test_one_line_per_change(self, caplog: pytest.LogCaptureFixture) -> None:
        caplog.set_level(logging.INFO, "exporter.nvml")
        rig = Rig(scenario=scenario("per_device_errors.json"))
        for _ in range(20):
            rig.cycle()
        lines = [record.getMessage() for record in caplog.records]
        assert len(lines) == len(set(lines))
        assert sum("nvmlDeviceGetPcieThroughput fails: timeout (10)" in line for line in lines) == 1
        assert sum("gpu_lost (15)" in line for line in lines) == 2
        caplog.clear()
        rig.fake.devices[7]["raises"] = {}
        rig.fake.devices[7]["power_mw"] = rig.fake.devices[7]["temp_c"] = 1
        rig.cycle()
        rig.cycle()
        changes = sorted(record.getMessage() for record in caplog.records)
        assert changes == [
            f"GPU 7 ({uuid(7)}): nvmlDeviceGet{call} works again" for call in ("PowerUsage", "Temperature")
        ]


class TestDriverComesAndGoes:
    def test_the_whole_script(self) -> None:
        rig = Rig(
            healthy(0, utilization=[10, 0]), healthy(1, utilization=[11, 0]), scenario=scenario("init_failures.json")
        )
        seen = {0: self._outcome(rig, 0.0)} | {second: self._outcome(rig) for second in range(1, 200)}
        assert seen[0] == seen[4] == "library_not_found"
        assert seen[5] == seen[14] == "driver_not_loaded"
        assert seen[15] == seen[34] == "version_mismatch"
        assert seen[35] == seen[44] == []
        assert seen[45] == seen[59] == [("0", uuid(0), 10), ("1", uuid(1), 11)]
        assert seen[60] == "uninitialized"
        assert seen[61] == seen[74] == seen[45]
        assert seen[75] == seen[194] == "unknown"
        assert seen[195] == seen[199] == [("0", uuid(1), 11), ("1", uuid(0), 10)]

    @staticmethod
    def _outcome(rig: Rig, after: float = 1.0) -> object:
        try:
            reading = rig.cycle(after=after)
        except SourceError as error:
            return error.reason
        assert reading.expected == len(reading.gpus)
        return [(gpu.index, gpu.uuid, value(reading, "DEV_GPU_UTIL", gpu.key)) for gpu in reading.gpus if gpu.up]

    def test_inits_are_undone(self) -> None:
        rig = Rig(healthy(0), healthy(1), scenario=scenario("init_failures.json"))
        for _ in range(200):
            self._outcome(rig)
        assert rig.fake.initialised == 1
        assert rig.fake.buffers == 4
        assert rig.fake.violations == []
        rig.source.close()
        assert (rig.fake.initialised, rig.fake.buffers) == (0, 0)

    @pytest.mark.parametrize("code", [1, 18])
    def test_void_handles_of_one_board_end_the_session(self, code: int) -> None:
        rig = Rig(healthy(0), healthy(1))
        rig.cycle()
        rig.fake.devices[1]["raise_all_after_handle"] = code
        reading = rig.cycle()
        assert states(reading)[uuid(0)] == ""
        assert not board(reading, uuid(1)).up
        del rig.fake.devices[1]["raise_all_after_handle"]
        assert set(states(rig.cycle()).values()) == {""}
        assert rig.fake.calls["nvmlInit", -1] == 2

    @pytest.mark.parametrize("code", [15, 999])
    def test_a_lost_board_is_looked_for_less_and_less_often(self, code: int) -> None:
        rig = Rig(healthy(0), healthy(1, raise_all_after_handle=code))
        inits = []
        for second in range(200):
            before = rig.fake.calls["nvmlInit", -1]
            rig.cycle()
            if rig.fake.calls["nvmlInit", -1] > before:
                inits.append(second)
        assert inits == [0, 1, 3, 7, 15, 31, 63, 123, 183]
        del rig.fake.devices[1]["raise_all_after_handle"]
        assert set(states(rig.cycle()).values()) == {""}

    def test_one_call_that_is_unknown_is_not_the_board(self) -> None:
        rig = Rig(healthy(0, raises={"nvmlDeviceGetTemperature": 999}))
        for _ in range(10):
            rig.cycle()
        assert rig.fake.calls["nvmlInit", -1] == 1
        assert rig.fake.calls["nvmlDeviceGetTemperature", 0] == 10

    def test_nothing_of_any_board_is_a_failure_of_the_source(self) -> None:
        rig = Rig(healthy(0, raise_all_after_handle=999), healthy(1, raise_all_after_handle=999))
        with pytest.raises(SourceError, match="no board gives anything") as error:
            rig.cycle()
        assert error.value.reason == "unknown"

    def test_all_boards_lost_is_a_finding(self) -> None:
        reading = Rig(healthy(0, raise_all_after_handle=15)).cycle()
        assert states(reading) == {uuid(0): "gpu_lost"}
        assert not reading.families


class TestBoardsComeAndGo:
    """Readings of the case: board 2 is lost, 3 moves to its index, 2 comes back with its energy counted anew."""

    def _rig(self) -> Rig:
        utils, energies = (98, 97, 99, 98), (5_000_000, 5_100_000, 5_200_000, 5_300_000)
        return Rig(
            *(
                healthy(index, utilization=[util, 0], energy_mj=energy, gpm=None)
                for index, (util, energy) in enumerate(zip(utils, energies, strict=True))
            )
        )

    def test_index_moves_and_series_do_not(self) -> None:
        rig = self._rig()
        assert set(states(rig.cycle()).values()) == {""}
        lost = rig.fake.devices.pop(2)
        reading = rig.cycle()
        assert states(reading) == {uuid(0): "", uuid(1): "", uuid(3): "", uuid(2): "gpu_lost"}
        assert (reading.expected, board(reading, uuid(3)).index, board(reading, uuid(2)).index) == (4, "2", "2")
        assert names(reading, uuid(2)) == set()
        assert value(reading, "DEV_TOTAL_ENERGY_CONSUMPTION", uuid(3)) == 5_300_000
        assert dict(rows(reading, "DEV_GPU_UTIL", uuid(3))[0].labels)["gpu"] == "2"

        rig.fake.devices.insert(2, {**lost, "energy_mj": 1200, "utilization": [0, 0]})
        reading = rig.cycle()
        assert set(states(reading).values()) == {""}
        assert (reading.expected, board(reading, uuid(3)).index) == (4, "3")
        assert value(reading, "DEV_TOTAL_ENERGY_CONSUMPTION", uuid(2)) == 1200
        assert value(reading, "DEV_GPU_UTIL", uuid(2)) == 0

    def test_a_board_without_handle_is_the_one_that_had_its_index(self) -> None:
        rig = self._rig()
        rig.cycle()
        rig.fake.devices[2]["raises"] = {"nvmlDeviceGetHandleByIndex": 15}
        rig.fake.devices[2]["raise_all_after_handle"] = 15
        rig.cycle()
        reading = rig.cycle()
        assert states(reading) == {uuid(0): "", uuid(1): "", uuid(2): "gpu_lost", uuid(3): ""}
        assert reading.expected == 4

    def test_a_board_that_has_no_uuid_is_known_by_its_index(self) -> None:
        rig = Rig(healthy(0, raises={"nvmlDeviceGetUUID": 3}), healthy(1))
        reading = [rig.cycle() for _ in range(3)][-1]
        assert states(reading) == {"index 0": "", uuid(1): ""}
        assert "UUID" not in dict(rows(reading, "DEV_POWER_USAGE", "index 0")[0].labels)
        assert value(reading, "PROF_SM_ACTIVE", "index 0") == 0.6125

    @pytest.mark.parametrize("code", [10, 27])
    def test_a_board_whose_uuid_is_not_told_yet_waits_for_it(self, code: int) -> None:
        rig = Rig(healthy(0, raises={"nvmlDeviceGetUUID": code}), healthy(1))
        assert not board(rig.cycle(), "index 0").up
        rig.fake.devices[0]["raises"] = {}
        assert states(rig.cycle()) == {uuid(0): "", uuid(1): ""}

    def test_no_series_twice(self) -> None:
        rig = Rig(healthy(0), healthy(1, uuid=uuid(0)))
        reading = rig.cycle()
        assert [gpu.index for gpu in reading.gpus] == ["0"]
        assert all(len({sample.labels for sample in had}) == len(had) for had in reading.families.values())
