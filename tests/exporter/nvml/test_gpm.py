"""GPM: two samples make a value, buffers belong to one thread and are given back."""

from __future__ import annotations

import pytest

from tests.exporter.nvml.fake import gpm, healthy
from tests.exporter.nvml.support import Rig, names, states, value

RATIOS = {
    "PROF_GR_ENGINE_ACTIVE": 0.975, "PROF_SM_ACTIVE": 0.6125, "PROF_SM_OCCUPANCY": 0.3,
    "PROF_PIPE_TENSOR_ACTIVE": 0.42, "PROF_DRAM_ACTIVE": 0.355, "PROF_PIPE_FP64_ACTIVE": 0.0,
    "PROF_PIPE_FP32_ACTIVE": 0.06, "PROF_PIPE_FP16_ACTIVE": 0.03,
}  # fmt: skip
RATES = {
    "PROF_PCIE_TX_BYTES": 100 * 2**20, "PROF_PCIE_RX_BYTES": 250 * 2**20, "PROF_NVLINK_TX_BYTES": 1000 * 2**20,
    "PROF_NVLINK_RX_BYTES": 2000 * 2**20,
}  # fmt: skip


def test_first_cycle_has_no_value_and_the_second_has_all() -> None:
    rig = Rig(healthy())
    uuid = rig.fake.devices[0]["uuid"]
    assert not {name for name in names(rig.cycle(), uuid) if name.startswith("PROF_")}
    reading = rig.cycle()
    assert {name: value(reading, name) for name in RATIOS} == pytest.approx(RATIOS)
    assert {name: value(reading, name) for name in RATES} == RATES
    assert value(reading, "DEV_NVLINK_BANDWIDTH_TOTAL") == round(3000 * 2**20 / 1e6)


def test_the_slow_call_is_not_made_where_gpm_gives_the_same() -> None:
    rig = Rig(healthy())
    for _ in range(3):
        rig.cycle()
    assert rig.fake.calls["nvmlDeviceGetPcieThroughput", 0] == 0


def test_metrics_that_the_board_lacks_are_had_otherwise() -> None:
    metrics = {name: share for name, share in gpm().items() if "PCIE" not in name and "NVLINK" not in name}
    rig = Rig(healthy(gpm=metrics, nvlink_tx_kib=lambda now: int(500 * now), nvlink_rx_kib=lambda now: int(700 * now)))
    for _ in range(4):
        reading = rig.cycle()
    assert value(reading, "PROF_PCIE_RX_BYTES") == 341_000
    assert value(reading, "PROF_NVLINK_TX_BYTES") == 500 * 1024
    assert value(reading, "PROF_NVLINK_RX_BYTES") == 700 * 1024
    assert value(reading, "PROF_SM_ACTIVE") == 0.6125


def test_samples_closer_than_the_driver_takes_them_are_not_compared() -> None:
    rig = Rig(healthy())
    rig.cycle()
    assert value(rig.cycle(after=0.05), "PROF_SM_ACTIVE") is None
    assert value(rig.cycle(after=0.06), "PROF_SM_ACTIVE") == 0.6125


def test_an_error_costs_its_cycle_and_the_one_after() -> None:
    rig = Rig(healthy())
    rig.cycle()
    rig.fake.devices[0]["raises"] = {"nvmlGpmSampleGet": 10}
    reading = rig.cycle()
    assert value(reading, "PROF_SM_ACTIVE") is None
    assert reading.errors == {"timeout": 1}
    assert value(reading, "DEV_POWER_USAGE") == 612.345
    rig.fake.devices[0]["raises"] = {}
    assert value(rig.cycle(), "PROF_SM_ACTIVE") is None
    assert value(rig.cycle(), "PROF_SM_ACTIVE") == 0.6125
    assert rig.fake.buffers == 2


def test_a_board_that_refuses_is_not_asked_again() -> None:
    rig = Rig(healthy(raises={"nvmlGpmSampleGet": 3}))
    for _ in range(3):
        reading = rig.cycle()
    assert rig.fake.calls["nvmlGpmSampleGet", 0] == 1
    assert rig.fake.buffers == 0
    assert value(reading, "PROF_PCIE_TX_BYTES") == 488_000


def test_without_buffers_the_rest_is_there() -> None:
    rig = Rig(healthy())
    rig.fake.refused["nvmlGpmSampleAlloc"] = 20
    reading = rig.cycle()
    assert reading.errors == {"unknown": 1}
    assert value(reading, "DEV_POWER_USAGE") == 612.345


@pytest.mark.parametrize(("percent", "shown"), [(100.4, 1.0), (102.0, None), (-3.0, None), (float("nan"), None)])
def test_what_cannot_be_is_rounded_or_dropped(percent: float, shown: float | None) -> None:
    rig = Rig(healthy(gpm=gpm(SM_UTIL=percent)))
    rig.cycle()
    reading = rig.cycle()
    assert value(reading, "PROF_SM_ACTIVE") == shown
    assert reading.dropped == ({} if shown else {"range": 1})


def test_buffers_stay_with_their_thread_and_are_given_back() -> None:
    rig = Rig(*(healthy(index) for index in range(4)))
    for _ in range(3):
        rig.cycle()
    assert rig.fake.buffers == 8
    rig.fake.devices.pop()
    reading = rig.cycle()  # NVML counts another number of boards: the session begins anew
    assert rig.fake.buffers == 6
    assert sorted(states(reading).values()) == ["", "", "", "gpu_lost"]
    rig.source.close()
    assert (rig.fake.buffers, rig.fake.event_sets, rig.fake.violations) == (0, 0, [])


def test_closed_and_opened_again() -> None:
    rig = Rig(healthy())
    rig.cycle()
    rig.source.close()
    assert rig.fake.initialised == 0
    rig.cycle()
    assert value(rig.cycle(), "PROF_SM_ACTIVE") == 0.6125
    rig.source.close()
    assert (rig.fake.initialised, rig.fake.buffers, rig.fake.violations) == (0, 0, [])
