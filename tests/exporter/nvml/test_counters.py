"""Readings that remember: XID codes, NVLink counters, and values that stand for none."""

from __future__ import annotations

from typing import Any

import pytest

from tests.exporter.nvml.fake import healthy
from tests.exporter.nvml.support import Rig, value


class TestXid:
    def test_the_last_code_stays(self) -> None:
        rig = Rig(healthy())
        assert value(rig.cycle(), "DEV_XID_ERRORS") == 0
        rig.fake.devices[0]["xids"] += [63, 79]
        assert value(rig.cycle(), "DEV_XID_ERRORS") == 79
        assert value(rig.cycle(), "DEV_XID_ERRORS") == 79

    def test_it_outlives_the_session(self) -> None:
        rig = Rig(healthy(0), healthy(1))
        uuid = rig.fake.devices[0]["uuid"]
        rig.cycle()
        rig.fake.devices[0]["xids"].append(79)
        rig.cycle()
        rig.fake.devices.pop()
        assert value(rig.cycle(), "DEV_XID_ERRORS", uuid) == 79
        assert rig.fake.calls["nvmlInit", -1] == 2

    def test_the_last_words_of_a_board_that_is_lost(self, caplog: pytest.LogCaptureFixture) -> None:
        rig = Rig(healthy(0), healthy(1))
        uuid = rig.fake.devices[0]["uuid"]
        rig.cycle()
        rig.fake.devices[0]["xids"].append(79)
        rig.fake.devices[0]["raises"] = {"nvmlDeviceGetMigMode": 15}
        for _ in range(5):
            assert value(rig.cycle(), "DEV_XID_ERRORS", uuid) is None
        rig.fake.devices[0]["raises"] = {}
        rig.clock.advance(60.0)
        assert value(rig.cycle(), "DEV_XID_ERRORS", uuid) == 79
        lines = [record.getMessage() for record in caplog.records if "XID" in record.getMessage()]
        assert lines == [f"GPU 0 ({uuid}): XID 79"]

    def test_a_storm_does_not_hold_the_cycle(self) -> None:
        rig = Rig(healthy())
        rig.cycle()
        rig.fake.devices[0]["xids"] += [31] * 1000
        assert value(rig.cycle(), "DEV_XID_ERRORS") == 31
        assert rig.fake.calls["nvmlEventSetWait_v2", 0] < 100

    def test_boards_without_events(self) -> None:
        rig = Rig(healthy(xids=None))
        rig.cycle()
        assert value(rig.cycle(), "DEV_XID_ERRORS") is None
        assert rig.fake.calls["nvmlDeviceRegisterEvents", 0] == 1
        assert rig.fake.event_sets == 0


class TestNvlinkBeforeGpm:
    def _rig(self, *totals: int) -> Rig:
        rig = Rig(healthy(gpm=None))
        rig.fake.devices[0]["nvlink_tx_kib"] = lambda now: totals[int(now) - 101]
        return rig

    def test_growth_is_the_rate(self) -> None:
        rig = self._rig(1000, 3000, 3000)
        assert value(rig.cycle(), "PROF_NVLINK_TX_BYTES") is None
        assert value(rig.cycle(), "PROF_NVLINK_TX_BYTES") == 2000 * 1024
        reading = rig.cycle()
        assert value(reading, "PROF_NVLINK_TX_BYTES") == 0
        assert value(reading, "DEV_NVLINK_BANDWIDTH_TOTAL") == 0

    def test_a_counter_that_starts_again_is_no_rate(self) -> None:
        rig = self._rig(1000, 5, 10)
        rig.cycle()
        assert value(rig.cycle(), "PROF_NVLINK_TX_BYTES") is None
        assert value(rig.cycle(), "PROF_NVLINK_TX_BYTES") == 5 * 1024

    def test_boards_without_links(self) -> None:
        rig = Rig(healthy(gpm=None, nvlink_tx_kib=None, nvlink_rx_kib=None, memory_temp_c=None))
        for _ in range(3):
            reading = rig.cycle()
        assert value(reading, "PROF_NVLINK_TX_BYTES") is None
        assert value(reading, "DEV_NVLINK_BANDWIDTH_TOTAL") is None
        assert value(reading, "DEV_MEMORY_TEMP") is None
        assert rig.fake.calls["nvmlDeviceGetFieldValues", 0] == 1


@pytest.mark.parametrize(
    ("changes", "family", "dropped"),
    [
        ({"power_mw": 2**32 - 1}, "DEV_POWER_USAGE", "blank"),
        ({"energy_mj": 2**64 - 1}, "DEV_TOTAL_ENERGY_CONSUMPTION", "blank"),
        ({"power_violation_ns": 2**64 - 1}, "DEV_POWER_VIOLATION", "blank"),
        ({"temp_c": 2**31 - 16}, "DEV_GPU_TEMP", "range"),
        ({"utilization": [101.5, 0]}, "DEV_GPU_UTIL", "range"),
        ({"sm_mhz": 60_000}, "DEV_SM_CLOCK", "range"),
    ],
)
def test_what_stands_for_no_value_is_dropped(changes: dict[str, Any], family: str, dropped: str) -> None:
    reading = Rig(healthy(**changes)).cycle()
    assert value(reading, family) is None
    assert reading.dropped == {dropped: 1}
    assert value(reading, "DEV_MEM_CLOCK") == 2619


def test_blank_memory() -> None:
    reading = Rig(healthy(memory=[2**64 - 1] * 3)).cycle()
    assert value(reading, "DEV_FB_USED") is None
    assert value(reading, "DEV_FB_FREE") is None


def test_a_32_bit_blank_is_a_value_where_there_are_64() -> None:
    assert value(Rig(healthy(energy_mj=2**32 - 1)).cycle(), "DEV_TOTAL_ENERGY_CONSUMPTION") == 2**32 - 1


def test_large_counters_keep_their_digits() -> None:
    assert value(Rig(healthy(energy_mj=2**60 + 1)).cycle(), "DEV_TOTAL_ENERGY_CONSUMPTION") == 2**60 + 1
