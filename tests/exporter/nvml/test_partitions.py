"""Partitioned boards (MIG), after the collected case: board readings once, partitions their own memory and activity."""

from __future__ import annotations

from typing import Any

import pytest

from exporter.catalogue import DCGM_FAMILIES
from exporter.reading import Reading
from exporter.sources.nvml.partitions import PROFILE
from tests.exporter.nvml.fake import gpm, healthy
from tests.exporter.nvml.support import HOSTNAME, Rig, rows, value

H100 = "NVIDIA H100 80GB HBM3"
BOARD = str(healthy(0)["uuid"])


def _part(number: int, profile: str, used_mib: int, **metrics: float) -> dict[str, Any]:
    memory = [40 << 30, (40 << 30) - (used_mib << 20), used_mib << 20]
    return {"id": number, "name": f"{H100} MIG {profile}", "memory": memory, "gpm": gpm(**metrics)}


def _devices() -> list[Any]:
    parts = [
        _part(7, "1g.10gb", 9000, GRAPHICS_UTIL=99.5687, ANY_TENSOR_UTIL=30.1),
        _part(8, "1g.10gb", 12, GRAPHICS_UTIL=0.0),
        _part(1, "3g.40gb", 30210, GRAPHICS_UTIL=41.2, ANY_TENSOR_UTIL=8.8),
    ]
    del parts[1]["gpm"]["ANY_TENSOR_UTIL"]
    return [
        healthy(0, mig=True, instances=parts, utilization=None, power_mw=310_500, temp_c=44),
        healthy(1, power_mw=402_000, memory=[80 << 30, (80 << 30) - (70_100 << 20), 70_100 << 20]),
    ]


@pytest.fixture(scope="module")
def reading() -> Reading:
    rig = Rig(*_devices())
    rig.cycle()
    found = rig.cycle()
    rig.source.close()
    assert (rig.fake.buffers, rig.fake.violations) == (0, [])
    return found


def test_boards_and_devices(reading: Reading) -> None:
    assert len(reading.gpus) == 2
    assert len({(sample.gpu, sample.instance) for sample in rows(reading, "DEV_FB_USED")}) == 4


def test_a_board_counts_once(reading: Reading) -> None:
    for family in DCGM_FAMILIES:
        if family.scope == "board":
            samples = reading.families.get(family, ())
            assert len({sample.gpu for sample in samples}) == len(samples), family.name
            assert {sample.instance for sample in samples} <= {""}
    assert sum(sample.value for sample in rows(reading, "DEV_POWER_USAGE")) == 712.5


def test_memory_adds_up(reading: Reading) -> None:
    assert sum(sample.value for sample in rows(reading, "DEV_FB_USED")) == 109_322
    assert {sample.instance: sample.value for sample in rows(reading, "DEV_FB_USED", BOARD)} == {
        "7": 9000, "8": 12, "1": 30210,
    }  # fmt: skip


def test_activity_is_the_partition_s(reading: Reading) -> None:
    active = {sample.instance: sample.value for sample in rows(reading, "PROF_GR_ENGINE_ACTIVE", BOARD)}
    assert active == pytest.approx({"7": 0.995687, "8": 0.0, "1": 0.412})
    assert {sample.instance for sample in rows(reading, "PROF_PIPE_TENSOR_ACTIVE", BOARD)} == {"7", "1"}


def test_what_only_the_board_has_is_the_board_s(reading: Reading) -> None:
    assert value(reading, "PROF_PCIE_TX_BYTES", BOARD) == 100 * 2**20
    assert value(reading, "DEV_GPU_UTIL", BOARD) is None


def test_labels(reading: Reading) -> None:
    labels = next(sample.labels for sample in rows(reading, "DEV_FB_USED", BOARD) if sample.instance == "7")
    assert labels == (
        ("gpu", "0"), ("UUID", BOARD), ("pci_bus_id", "00000000:1A:00.0"), ("device", "nvidia0"),
        ("modelName", H100), ("GPU_I_PROFILE", "1g.10gb"), ("GPU_I_ID", "7"), ("Hostname", HOSTNAME),
        ("DCGM_FI_DRIVER_VERSION", "550.90.07"),
    )  # fmt: skip


def test_partitions_come_and_go_without_a_new_session() -> None:
    rig = Rig(*_devices())
    rig.cycle()
    rig.cycle()
    gone = rig.fake.devices[0]["instances"].pop(0)
    after = rig.cycle()
    assert {sample.instance for sample in rows(after, "DEV_FB_USED", BOARD)} == {"8", "1"}
    assert rig.fake.buffers == 2 + 2 + 2 * 2
    rig.fake.devices[0]["mig"] = False
    rig.cycle()
    whole = rig.cycle()
    assert [sample.instance for sample in rows(whole, "DEV_FB_USED", BOARD)] == [""]
    assert value(whole, "PROF_SM_ACTIVE", BOARD) == 0.6125
    rig.fake.devices[0].update(mig=True, instances=[gone])
    assert [sample.instance for sample in rows(rig.cycle(), "DEV_FB_USED", BOARD)] == ["7"]
    assert rig.fake.calls["nvmlInit", -1] == 1
    assert rig.fake.violations == []


@pytest.mark.parametrize(
    "call", ["nvmlDeviceGetMigMode", "nvmlDeviceGetMaxMigDeviceCount", "nvmlDeviceGetMigDeviceHandleByIndex"]
)
def test_a_board_whose_partitions_are_not_told_is_not_taken_for_whole(call: str) -> None:
    rig = Rig(*_devices())
    rig.cycle()
    rig.cycle()
    rig.fake.devices[0]["raises"] = {call: 10}
    reading = rig.cycle()
    assert rows(reading, "DEV_FB_USED", BOARD) == rows(reading, "PROF_SM_ACTIVE", BOARD) == []
    assert value(reading, "DEV_POWER_USAGE", BOARD) == 310.5
    assert reading.errors == {"timeout": 1}
    rig.fake.devices[0]["raises"] = {}
    assert len(rows(rig.cycle(), "DEV_FB_USED", BOARD)) == 3


def test_a_board_that_cannot_be_partitioned() -> None:
    rig = Rig(healthy(mig=None))
    rig.cycle()
    assert value(rig.cycle(), "DEV_FB_USED") == 11125
    assert rig.fake.calls["nvmlDeviceGetMigMode", 0] == 1


def test_compute_instances_share_the_memory_of_theirs() -> None:
    parts = [_part(2, f"{compute}c.3g.40gb", 5000) for compute in (1, 2)]
    reading = Rig(healthy(mig=True, instances=parts)).cycle()
    assert [(sample.instance, sample.value) for sample in rows(reading, "DEV_FB_USED")] == [("2", 5000)]
    assert dict(rows(reading, "DEV_FB_USED")[0].labels)["GPU_I_PROFILE"] == "3g.40gb"


def test_a_partition_that_is_destroyed_meanwhile_costs_only_itself() -> None:
    parts = [_part(1, "3g.40gb", 1) | {"raises": {"nvmlDeviceGetMemoryInfo": 999}}, _part(2, "3g.40gb", 2)]
    reading = Rig(healthy(mig=True, instances=parts)).cycle()
    assert {sample.instance for sample in rows(reading, "DEV_FB_USED")} == {"2"}
    assert value(reading, "DEV_POWER_USAGE") == 612.345


@pytest.mark.parametrize(
    ("name", "profile"),
    [
        ("NVIDIA A100-SXM4-40GB MIG 1g.5gb", "1g.5gb"),
        ("NVIDIA A100-SXM4-40GB MIG 1c.3g.20gb", "3g.20gb"),
        ("NVIDIA H100 80GB HBM3 MIG 1g.10gb+me", "1g.10gb+me"),
        ("NVIDIA H100 80GB HBM3", None),
    ],
)
def test_profiles(name: str, profile: str | None) -> None:
    found = PROFILE.search(name)
    assert (found[1] if found else None) == profile
