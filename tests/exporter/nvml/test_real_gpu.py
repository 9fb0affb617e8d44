"""On a machine with a GPU: what the source reads must be possible, and agree with itself and with nvidia-smi.

Run with `pytest -m gpu`. Two readings a second apart, since GPM needs two samples; nothing loads the GPU, so that the
bounds are those of any load.
"""

from __future__ import annotations

import shutil
import socket
import subprocess
import time
from collections.abc import Iterator

import pytest

from exporter.catalogue import GPU_LABELS, INSTANCE_LABELS
from exporter.reading import Reading
from exporter.source import SourceError
from exporter.sources.nvml.source import NvmlSource
from tests.exporter.nvml.support import rows

pytestmark = pytest.mark.gpu

_SECONDS = 1.0
_COUNTERS = ("DEV_TOTAL_ENERGY_CONSUMPTION", "DEV_PCIE_REPLAY_COUNTER", "DEV_POWER_VIOLATION", "DEV_THERMAL_VIOLATION")
_WITHIN = (
    # A share of time cannot be longer than one that it needs: no tensor work without a warp, no warp without work.
    ("PROF_PIPE_TENSOR_ACTIVE", "PROF_SM_ACTIVE"),
    ("PROF_SM_OCCUPANCY", "PROF_SM_ACTIVE"),
    ("PROF_SM_ACTIVE", "PROF_GR_ENGINE_ACTIVE"),
)
_SLACK = 0.02


@pytest.fixture(scope="module")
def readings() -> Iterator[list[Reading]]:
    source = NvmlSource(hostname=socket.gethostname())
    try:
        found = [source.collect(time.monotonic() + 30.0)]
    except SourceError as error:
        pytest.skip(f"NVML gives nothing here: {error.reason}: {error.detail}")
    if not found[0].gpus:
        source.close()
        pytest.skip("NVML finds no GPU here")
    for _ in range(2):
        time.sleep(_SECONDS)
        found.append(source.collect(time.monotonic() + 30.0))
    yield found
    source.close()


def test_all_are_up(readings: list[Reading]) -> None:
    for reading in readings:
        assert {gpu.key: gpu.reason for gpu in reading.gpus} == {gpu.key: "" for gpu in reading.gpus}
        assert reading.expected == len(reading.gpus)


def test_nothing_is_dropped_and_nothing_fails(readings: list[Reading]) -> None:
    assert [dict(reading.dropped) for reading in readings] == [{}] * len(readings)
    assert [dict(reading.errors) for reading in readings] == [{}] * len(readings)


def test_labels(readings: list[Reading]) -> None:
    order = (*GPU_LABELS[:5], *INSTANCE_LABELS, *GPU_LABELS[5:])
    for samples in readings[-1].families.values():
        for sample in samples:
            names = [name for name, _ in sample.labels]
            assert names == [name for name in order if name in names]
            assert set(GPU_LABELS) <= set(names)
        assert len({sample.labels for sample in samples}) == len(samples)


def test_every_board_has_the_essentials(readings: list[Reading]) -> None:
    for name in ("DEV_GPU_TEMP", "DEV_SM_CLOCK", "DEV_FB_USED", "DEV_FB_FREE"):
        assert {sample.gpu for sample in rows(readings[-1], name)} == {gpu.key for gpu in readings[-1].gpus}, name


@pytest.mark.parametrize(("less", "more"), _WITHIN)
def test_shares_of_time(readings: list[Reading], less: str, more: str) -> None:
    most = {(sample.gpu, sample.instance): sample.value for sample in rows(readings[-1], more)}
    found = rows(readings[-1], less)
    if not found:
        pytest.skip("no GPM: older than Hopper, or kept for administrators")
    for sample in found:
        assert 0.0 <= sample.value <= most[sample.gpu, sample.instance] + _SLACK <= 1.0 + _SLACK


def test_first_cycle_has_no_profile(readings: list[Reading]) -> None:
    assert rows(readings[0], "PROF_SM_ACTIVE") == []


@pytest.mark.parametrize("name", _COUNTERS)
def test_counters_grow(readings: list[Reading], name: str) -> None:
    before = {sample.gpu: sample.value for sample in rows(readings[0], name)}
    for sample in rows(readings[-1], name):
        assert sample.value >= before[sample.gpu]


def test_energy_is_power_times_time(readings: list[Reading]) -> None:
    power = {sample.gpu: sample.value for sample in rows(readings[-1], "DEV_POWER_USAGE")}
    before = {sample.gpu: sample.value for sample in rows(readings[0], "DEV_TOTAL_ENERGY_CONSUMPTION")}
    for sample in rows(readings[-1], "DEV_TOTAL_ENERGY_CONSUMPTION"):
        watts = (sample.value - before[sample.gpu]) / 1000 / (2 * _SECONDS)
        # Loose: the load may change meanwhile, and both are refreshed in steps.
        assert power[sample.gpu] / 3 < watts < 3 * power[sample.gpu]


def test_nvidia_smi_says_the_same(readings: list[Reading]) -> None:
    smi = shutil.which("nvidia-smi")
    if smi is None:
        pytest.skip("no nvidia-smi")
    asked = "--query-gpu=uuid,index,pci.bus_id,name,driver_version"
    listed = subprocess.run([smi, asked, "--format=csv,noheader"], capture_output=True, text=True, check=True).stdout
    theirs = {tuple(field.strip() for field in line.split(",")) for line in listed.splitlines()}
    wanted = ("UUID", "gpu", "pci_bus_id", "modelName", "DCGM_FI_DRIVER_VERSION")
    assert {tuple(dict(gpu.labels)[name] for name in wanted) for gpu in readings[-1].gpus} == theirs
