"""Several readings as one: the source that knows a value best, one identity per board, no series twice."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from exporter.catalogue import BY_NAME, DCGM_FAMILIES, GPU_LABELS
from exporter.merge import merge
from exporter.reading import Gpu, Reading, Sample
from tests.exporter.nodes import board, reading, sample

UTIL, POWER = BY_NAME["DCGM_FI_DEV_GPU_UTIL"], BY_NAME["DCGM_FI_DEV_POWER_USAGE"]
TENSOR, USED = BY_NAME["DCGM_FI_PROF_PIPE_TENSOR_ACTIVE"], BY_NAME["DCGM_FI_DEV_FB_USED"]


def values(*names: str, value: float) -> dict[str, float]:
    return dict.fromkeys(names, value)


def test_one_source_passes_through_unchanged() -> None:
    found = reading(board(0), board(1), values={"DCGM_FI_DEV_GPU_UTIL": 98, "DCGM_FI_PROF_SM_ACTIVE": 0.5})
    merged = merge({"dcgm": found})
    assert merged.families == found.families
    assert merged.gpus == found.gpus


def test_device_fields_are_the_drivers_and_profiling_fields_dcgms() -> None:
    names = (UTIL.name, TENSOR.name)
    nvml = reading(board(0), values=values(*names, value=1))
    dcgm = reading(board(0), values=values(*names, value=0))
    merged = merge({"dcgm": dcgm, "nvml": nvml}).families
    assert [s.value for s in merged[UTIL]] == [1]
    assert [s.value for s in merged[TENSOR]] == [0]


def test_what_the_preferred_source_lacks_comes_from_the_other_board_by_board() -> None:
    nvml = reading(board(0), board(1), values={UTIL.name: 10, POWER.name: 300})
    nvml = replace(nvml, families={**nvml.families, UTIL: nvml.families[UTIL][:1]})
    dcgm = reading(board(0), board(1), values={UTIL.name: 20, TENSOR.name: 0.5})
    merged = merge({"nvml": nvml, "dcgm": dcgm}).families
    assert [(s.gpu, s.value) for s in merged[UTIL]] == [(board(0).key, 10), (board(1).key, 20)]
    assert len(merged[TENSOR]) == len(merged[POWER]) == 2


def test_a_board_has_the_labels_of_one_source_on_all_of_its_series() -> None:
    other = board(0, index=5, host="other-name")
    pod = {"pod": "llama-0", "namespace": "ml"}
    dcgm = replace(
        reading(other),
        families={TENSOR: (sample(other, 0.5, more=pod), sample(other, 0.25, instance="7", more=pod))},
    )
    merged = merge({"nvml": reading(board(0)), "dcgm": dcgm}).families
    whole, part = (dict(s.labels) for s in merged[TENSOR])
    assert {name: whole[name] for name in GPU_LABELS} == dict(board(0).labels)
    assert whole.items() >= pod.items()
    assert [name for name, _ in merged[TENSOR][1].labels] == [
        "gpu", "UUID", "pci_bus_id", "device", "modelName", "GPU_I_PROFILE", "GPU_I_ID", "Hostname",
        "DCGM_FI_DRIVER_VERSION", "pod", "namespace",
    ]  # fmt: skip
    assert part["GPU_I_ID"] == "7"


def test_the_other_spelling_of_the_host_is_replaced_too() -> None:
    lower = tuple((name.lower() if name == "Hostname" else name, value) for name, value in board(0, host="x").labels)
    dcgm = replace(reading(board(0)), families={TENSOR: (Sample(board(0).key, lower, 0.5),)})
    dcgm = replace(dcgm, gpus=(replace(board(0), labels=lower),))
    (found,) = merge({"nvml": reading(board(0)), "dcgm": dcgm}).families[TENSOR]
    assert dict(found.labels)["Hostname"] == "node-a"
    assert "hostname" not in dict(found.labels)


def test_board_readings_that_instances_repeat_are_kept_once() -> None:
    gpu = board(0)
    rows = tuple(sample(gpu, value, instance=str(n)) for n, value in enumerate((101025, 106318, 101025), start=7))
    used = tuple(sample(gpu, 100 + n, instance=str(n)) for n in range(7, 10))
    whole = sample(board(1), 402.0)
    dcgm = Reading(families={POWER: (*rows, whole), USED: used}, gpus=(gpu, board(1)), expected=2)
    merged = merge({"dcgm": dcgm}).families
    assert [s.value for s in merged[POWER]] == [106318, 402.0]
    assert merged[POWER][0].labels == gpu.labels
    assert merged[USED] == used


def test_a_board_never_stands_beside_its_parts_from_another_source() -> None:
    gpu = board(0)
    parts = Reading(families={USED: (sample(gpu, 1, instance="7"), sample(gpu, 2, instance="8"))}, gpus=(gpu,),
                    expected=1)  # fmt: skip
    whole = reading(gpu, values={USED.name: 40_000})
    assert [s.value for s in merge({"nvml": whole, "dcgm": parts}).families[USED]] == [40_000]
    assert [s.value for s in merge({"nvml": parts, "dcgm": whole}).families[USED]] == [1, 2]


def test_links_of_a_board_stay_apart() -> None:
    family = replace(UTIL, name="DCGM_FI_DEV_NVLINK_ERRORS")
    links = tuple(sample(board(0), value, more={"nvlink": str(value)}) for value in (1, 3))
    assert merge({"dcgm": Reading(families={family: links}, gpus=(board(0),), expected=1)}).families[family] == links


def test_families_stand_in_the_catalogues_order_foreign_ones_behind() -> None:
    foreign = replace(UTIL, name="A_FOREIGN_ONE")
    found = reading(board(0), values={family.name: 1 for family in DCGM_FAMILIES})
    found = replace(found, families={foreign: (sample(board(0), 1),), **dict(reversed(list(found.families.items())))})
    assert list(merge({"dcgm": found}).families) == [*DCGM_FAMILIES, foreign]


def test_a_gpu_is_up_where_anybody_has_readings_of_it() -> None:
    nvml = reading(board(0, reason="gpu_lost"), board(1), board(2, reason="timeout"))
    dcgm = reading(board(0), board(2, reason="gone"))
    gone = board(3, reason="unknown")
    merged = merge({"nvml": nvml, "dcgm": dcgm}, missing=(gone, board(1, reason="stale")))
    assert [(gpu.key, gpu.reason) for gpu in merged.gpus] == [
        (board(0).key, ""), (board(1).key, ""), (board(2).key, "timeout"), (gone.key, "unknown"),
    ]  # fmt: skip


def test_nothing_at_all() -> None:
    merged = merge({})
    assert not merged.families
    assert merged.gpus == ()


_GPUS = st.lists(st.integers(0, 4), unique=True, max_size=5)
_FAMILIES = st.lists(st.sampled_from([UTIL, POWER, TENSOR, USED]), unique=True)
_INSTANCES = st.lists(st.sampled_from(["", "7", "8"]), unique=True, min_size=1)


@st.composite
def readings(draw: st.DrawFn, value: float, host: str) -> Reading:
    gpus: list[Gpu] = [board(n, index=place, host=host) for place, n in enumerate(draw(_GPUS))]
    families = {}
    for family in draw(_FAMILIES):
        rows = [sample(gpu, value, instance=i) for gpu in gpus for i in draw(_INSTANCES)]
        if rows:
            families[family] = tuple(rows)
    return Reading(families=families, gpus=tuple(gpus), expected=len(gpus))


@given(nvml=readings(1, "a"), dcgm=readings(2, "b"))
def test_no_series_twice_no_value_lost_and_one_identity_per_board(nvml: Reading, dcgm: Reading) -> None:
    merged = merge({"nvml": nvml, "dcgm": dcgm})
    hosts: dict[str, set[str]] = {}
    for family, samples in merged.families.items():
        series = [frozenset(s.labels) for s in samples]
        assert len(set(series)) == len(series)
        for s in samples:
            hosts.setdefault(s.gpu, set()).add(dict(s.labels)["Hostname"])
        if family.scope == "board":
            assert len({s.gpu for s in samples}) == len(samples)
    assert all(len(names) == 1 for names in hosts.values())
    for family in {**nvml.families, **dcgm.families}:
        given_to = {s.gpu for found in (nvml, dcgm) for s in found.families.get(family, ())}
        assert {s.gpu for s in merged.families[family]} == given_to
    assert {gpu.key for gpu in merged.gpus} == {gpu.key for gpu in (*nvml.gpus, *dcgm.gpus)}
