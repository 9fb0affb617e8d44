"""The installed package `nvidia-ml-py`, on a driver that is ours: structs, versions and pointers are the real ones."""

from __future__ import annotations

from typing import Any

import pytest

from exporter.reading import Reading
from exporter.sources.nvml.binding import code_of, load
from exporter.sources.nvml.source import NvmlSource
from tests.exporter.nvml.constants import CONSTANTS
from tests.exporter.nvml.driver import bound
from tests.exporter.nvml.fake import Device, FakeNvml, gpm, healthy
from tests.exporter.nvml.support import HOSTNAME, Clock, value

pynvml = pytest.importorskip("pynvml", reason="nvidia-ml-py is not installed")

_AMPERE = healthy(gpm=None, name="NVIDIA A100-SXM4-80GB", nvlink_tx_kib=lambda now: int(now * 1000))
_PARTITIONED = healthy(
    mig=True,
    instances=[
        {"id": 1, "name": "NVIDIA H100 80GB HBM3 MIG 3g.40gb", "memory": [42 << 30, 12 << 30, 29 << 30], "gpm": gpm()},
        {"id": 7, "name": "NVIDIA H100 80GB HBM3 MIG 1g.10gb", "memory": [10 << 30, 1 << 30, 8 << 30], "gpm": gpm()},
    ],
)


def _third_reading(device: Device, *, real: bool, without: tuple[str, ...] = ()) -> Reading:
    clock = Clock()
    fake = FakeNvml(device, clock=clock)
    library: Any = bound(fake, without=without) if real else fake
    for name in () if real else without:
        fake.refused[name] = 13
    source = NvmlSource(library=library, hostname=HOSTNAME, clock=clock)
    for xid in (0, 0, 63):
        if xid:
            fake.devices[0]["xids"].append(xid)
        clock.advance(1.0)
        reading = source.collect(clock.now + 30.0)
    source.close()
    assert (fake.violations, fake.buffers, fake.event_sets, fake.initialised) == ([], 0, 0, 0)
    return reading


@pytest.mark.parametrize("device", [healthy(), _AMPERE, _PARTITIONED], ids=["hopper", "ampere", "partitioned"])
def test_the_fake_reads_as_the_package_does(device: Device) -> None:
    read = _third_reading({**device, "xids": []}, real=True)
    assert read == _third_reading({**device, "xids": []}, real=False)
    assert read.errors == {}
    assert value(read, "DEV_XID_ERRORS") == 63
    assert len(read.families) == (26 if device is _AMPERE else 34)  # without GPM the eight shares of time are missing


def test_an_older_driver_lacks_functions() -> None:
    without = ("nvmlDeviceGetCurrentClocksEventReasons", "nvmlGpmQueryDeviceSupport")
    read = _third_reading(healthy(xids=[]), real=True, without=without)
    assert read == _third_reading(healthy(xids=[]), real=False, without=without)
    names = {family.name for family in read.families}
    assert "DCGM_FI_DEV_CLOCK_THROTTLE_REASONS" in names
    assert "DCGM_FI_PROF_SM_ACTIVE" not in names
    assert "DCGM_FI_PROF_PCIE_TX_BYTES" in names


def test_a_newer_driver_lacks_others() -> None:
    if not hasattr(pynvml, "nvmlDeviceGetTemperatureV"):
        pytest.skip("this nvidia-ml-py is older than the successor")
    without = ("nvmlDeviceGetTemperature", "nvmlDeviceGetCurrentClocksThrottleReasons")
    read = _third_reading(healthy(xids=[]), real=True, without=without)
    assert read == _third_reading(healthy(xids=[]), real=False, without=without)
    assert value(read, "DEV_GPU_TEMP") == 58
    assert value(read, "DEV_CLOCK_THROTTLE_REASONS") == 4


def test_constants() -> None:
    assert {name: getattr(pynvml, name) for name in CONSTANTS} == CONSTANTS


def test_the_package_is_recognised() -> None:
    assert load() is pynvml


def test_its_exceptions() -> None:
    lost = pynvml.NVMLError(15)
    with pytest.raises(TypeError):
        hash(lost)
    assert code_of(lost) == code_of(pynvml.NVMLError_GpuIsLost()) == 15
