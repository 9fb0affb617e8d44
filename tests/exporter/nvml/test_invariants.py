"""Whatever the driver does, what comes out can be believed and nothing is left behind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from exporter.catalogue import DCGM_FAMILIES
from exporter.reading import Reading
from exporter.source import SourceError
from exporter.sources.nvml.binding import UNSUPPORTED
from exporter.sources.nvml.source import NvmlSource
from tests.exporter.nvml.fake import gpm, healthy
from tests.exporter.nvml.support import Rig

_BOARDS = 3
_CALLS = (
    "nvmlDeviceGetHandleByIndex", "nvmlDeviceGetUUID", "nvmlDeviceGetName", "nvmlDeviceGetPciInfo",
    "nvmlDeviceGetMigMode", "nvmlDeviceGetMaxMigDeviceCount", "nvmlDeviceGetMigDeviceHandleByIndex",
    "nvmlDeviceGetGpuInstanceId", "nvmlDeviceGetMemoryInfo", "nvmlDeviceGetMemoryInfo_v2", "nvmlDeviceGetPowerUsage",
    "nvmlDeviceGetFieldValues", "nvmlDeviceRegisterEvents", "nvmlEventSetWait_v2", "nvmlGpmQueryDeviceSupport",
    "nvmlGpmSampleGet", "nvmlGpmMigSampleGet", "nvmlDeviceGetPcieThroughput",
)  # fmt: skip
_EVERYWHERE = (
    "nvmlInit", "nvmlShutdown", "nvmlSystemGetDriverVersion", "nvmlDeviceGetCount", "nvmlEventSetCreate",
    "nvmlEventSetFree", "nvmlGpmSampleAlloc", "nvmlGpmMetricsGet", "every call",
)  # fmt: skip
_CODES = st.sampled_from([0, 1, 2, 3, 4, 6, 9, 10, 12, 13, 15, 16, 18, 20, 21, 27, 28, 77, 999])
_NUMBERS = st.one_of(st.integers(-5, 2**64), st.sampled_from([2**32 - 1, 2**64 - 1, 2**63 - 16]))

_STEPS = st.one_of(
    st.tuples(st.just("board"), st.integers(0, _BOARDS - 1), st.sampled_from(_CALLS), _CODES),
    st.tuples(st.just("driver"), st.just(-1), st.sampled_from(_EVERYWHERE), _CODES),
    st.tuples(st.just("count"), st.integers(0, _BOARDS), st.just(""), st.just(0)),
    st.tuples(st.just("value"), st.integers(0, _BOARDS - 1), st.sampled_from(["energy_mj", "power_mw"]), _NUMBERS),
    st.tuples(st.just("mig"), st.integers(0, _BOARDS - 1), st.just(""), st.integers(0, 3)),
)


def _rig() -> Rig:
    return Rig(*(healthy(index, mig=True, instances=[], xids=[]) for index in range(_BOARDS)))


def _take(rig: Rig, boards: list[Any], step: tuple[str, int, str, int]) -> None:
    kind, index, name, number = step
    if kind == "board":
        # A board that says that it has no UUID keeps to its index until the next session, which is another test's.
        unnamed = name == "nvmlDeviceGetUUID" and number in UNSUPPORTED
        boards[index].setdefault("raises", {})[name] = 10 if unnamed else number
    elif kind == "driver" and number == 1:  # it says so when somebody else has shut it down
        rig.fake.initialised = 0
    elif kind == "driver":
        rig.fake.refused[name] = number
    elif kind == "count":
        rig.fake.devices = boards[:index]
    elif kind == "value":
        boards[index][name] = number
    else:
        parts = [{"id": part, "name": "A MIG 1g.5gb", "memory": [5, 3, 2], "gpm": gpm()} for part in range(number)]
        boards[index]["instances"] = parts


def _check(reading: Reading, dropped: Mapping[str, int]) -> None:
    assert set(reading.errors) <= set(NvmlSource.error_reasons)
    assert set(dropped) <= set(NvmlSource.drop_reasons)
    assert reading.expected == len(reading.gpus) == len({gpu.key for gpu in reading.gpus})
    up = {gpu.key for gpu in reading.gpus if gpu.up}
    assert list(reading.families) == [family for family in DCGM_FAMILIES if family in reading.families]
    seen = set()
    for family, samples in reading.families.items():
        assert samples
        assert len({frozenset(sample.labels) for sample in samples}) == len(samples), family.name
        for sample in samples:
            seen.add(sample.gpu)
            assert family.range[0] <= sample.value <= family.range[1]
            assert isinstance(sample.value, int) == (family.number == "int")
            assert all(text for _, text in sample.labels)
            assert not (sample.instance and family.scope == "board")
    assert seen == up


@settings(max_examples=80, deadline=None)
@given(st.lists(st.lists(_STEPS, max_size=4), min_size=2, max_size=8))
def test_any_driver(cycles: list[list[tuple[str, int, str, int]]]) -> None:
    rig = _rig()
    boards = list(rig.fake.devices)
    for steps in cycles:
        for step in steps:
            _take(rig, boards, step)
        found = _outcome(rig)
        if isinstance(found, SourceError):
            assert found.reason in NvmlSource.error_reasons
            assert found.detail
        else:
            _check(found, found.dropped)
    assert rig.fake.violations == []
    rig.fake.refused.clear()
    for board in boards:
        board["raises"] = {}
    rig.fake.devices = boards
    rig.clock.advance(120.0)
    for _ in range(3):  # the first may end what was void
        try:
            reading = rig.cycle(after=61.0)
        except SourceError:
            continue
    assert {gpu.key: gpu.reason for gpu in reading.gpus} == {str(board["uuid"]): "" for board in boards}
    rig.source.close()
    assert (rig.fake.initialised, rig.fake.buffers, rig.fake.violations) == (0, 0, [])


def _outcome(rig: Rig) -> Reading | SourceError:
    try:
        return rig.cycle()
    except SourceError as error:
        return error
