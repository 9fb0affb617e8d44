"""The project's cases of dcgm-exporter pages, each with its right answer."""

from __future__ import annotations

import math

import pytest

from exporter.catalogue import BY_NAME
from exporter.render import Format
from exporter.sources.dcgm.normalise import Found
from tests.exporter.dcgm.cases import page, pages
from tests.exporter.dcgm.reading import UUID, exposed, kept, understood, values
from tests.exporter.exposition import official, read

GPU_UTIL = "DCGM_FI_DEV_GPU_UTIL"
ENGINE = "DCGM_FI_PROF_GR_ENGINE_ACTIVE"
ENERGY = "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION"


def by_gpu(found: Found, name: str) -> dict[str, int | float]:
    return {gpu: value for (gpu,), value in values(found, name, "gpu").items()}


def test_01_sentinels_never_become_samples() -> None:
    found = understood(page("01"))
    assert found.dropped == {"blank": 15}
    assert by_gpu(found, "DCGM_FI_DEV_MEMORY_TEMP") == {"5": 41}
    assert by_gpu(found, GPU_UTIL) == {"4": 0, "5": 100}
    assert by_gpu(found, "DCGM_FI_DEV_POWER_USAGE") == {"4": 71.25, "5": 698.4}
    assert by_gpu(found, "DCGM_FI_PROF_SM_ACTIVE") == {"4": 0.0, "5": 0.8125}
    assert by_gpu(found, ENERGY) == {"4": 2_147_483_640, "5": 140_737_488_999_999}
    assert by_gpu(found, "DCGM_FI_PROF_PCIE_RX_BYTES") == {"4": 2_147_483_700}
    assert kept(found) == 10


def test_02_one_unreadable_value_costs_one_sample() -> None:
    found = understood(page("02"))
    assert found.dropped == {"unparsable": 7, "nan": 2, "range": 2}
    assert by_gpu(found, "DCGM_FI_DEV_SM_CLOCK") == {"0": 1980}
    assert by_gpu(found, "DCGM_FI_DEV_GPU_TEMP") == {"0": 33}
    assert by_gpu(found, "DCGM_FI_DEV_FB_USED") == {"2": 12_000}
    assert by_gpu(found, "DCGM_FI_DEV_POWER_USAGE") == {"0": 512.0, "2": 88.5, "3": 700.0}
    power = found.families[BY_NAME["DCGM_FI_DEV_POWER_USAGE"]]
    drivers = [dict(sample.labels).get("DCGM_FI_DRIVER_VERSION") for sample in power]
    assert drivers == [None, "550.90.07", "550.90.07"]
    assert "1753100000000" not in exposed(found.families.items())


def test_03_label_syntax() -> None:
    found = understood(page("03"))
    assert found.dropped == {"syntax": 3}
    labels = {sample.value: dict(sample.labels) for sample in found.families[BY_NAME[GPU_UTIL]]}
    assert sorted(labels) == [10, 11, 12, 13, 16, 17, 19]
    assert (labels[10]["pod"], labels[10]["container"]) == ("run-{a}", "x,y")
    assert labels[11]["modelName"] == 'Quadro "lab" card'
    assert (labels[11]["path"], labels[11]["note"]) == ("C:\\gpu\\1", "two\nlines")
    assert labels[13]["modelName"] == "算力卡 №3"
    assert labels[16]["app_kubernetes_io_name"] == "train"
    assert labels[17] == {"gpu": "7", "UUID": UUID(7), "Hostname": "this-node"}
    assert labels[19]["blob"] == "z" * 1023


@pytest.mark.parametrize("format_", Format)
@pytest.mark.parametrize("text", [text for text in pages() if text])
def test_03_what_we_expose_parses_and_means_the_same(text: str, format_: Format) -> None:
    found = understood(text)
    shown = exposed(found.families.items(), format_)
    read(shown.encode())
    official(shown, openmetrics=format_ is Format.OPENMETRICS)
    again = understood(shown)
    # Under OpenMetrics a counter of DCGM can only be `unknown`, so that the type of a foreign one does not come back.
    assert {f.name: s for f, s in again.families.items()} == {f.name: s for f, s in found.families.items()}
    assert again.families == found.families or format_ is Format.OPENMETRICS
    assert again.dropped == {}


def test_04_instances_share_a_board() -> None:
    found = understood(page("04"))
    assert found.dropped == {}
    assert sorted(found.gpus) == [UUID(0), UUID(1)]
    samples = [sample for group in found.families.values() for sample in group]
    devices = {(sample.gpu, sample.instance) for sample in samples if sample.gpu == UUID(0) and sample.instance}
    assert devices == {(UUID(0), "7"), (UUID(0), "8"), (UUID(0), "1")}
    power = values(found, "DCGM_FI_DEV_POWER_USAGE", "gpu", "GPU_I_ID")
    assert power == {("0", ""): 310.5, ("1", ""): 402.0}
    assert sum(power.values()) == 712.5
    assert values(found, ENERGY, "gpu", "GPU_I_ID") == {("0", ""): 126_272_106_318, ("1", ""): 98_000_000_000}
    used = values(found, "DCGM_FI_DEV_FB_USED", "gpu", "GPU_I_PROFILE", "GPU_I_ID")
    assert used["0", "3g.40gb", "1"] == 30_210
    assert sum(used.values()) == 109_322
    assert by_gpu(found, GPU_UTIL) == {"1": 97}
    engine = values(found, ENGINE, "gpu", "GPU_I_ID")
    assert [round(100 * engine["0", instance], 4) for instance in ("7", "8", "1")] == [99.5687, 0.0, 41.2]
    tensor = values(found, "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", "gpu", "GPU_I_ID")
    assert sorted(tensor) == [("0", "1"), ("0", "7"), ("1", "")]


@pytest.mark.parametrize("name", ["payload", "variant_from_python_fake"])
def test_05_counters_keep_their_names(name: str) -> None:
    found = understood(page("05", name))
    counts = {family.name: samples[0].value for family, samples in found.families.items()}
    assert counts == {
        ENERGY: 129_931_554_972,
        "DCGM_FI_DEV_PCIE_REPLAY_COUNTER": 0,
        "DCGM_FI_DEV_POWER_VIOLATION": 2_000_000,
        "DCGM_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL": 4,
    }
    text = exposed(found.families.items())
    assert f"# TYPE {ENERGY} counter\n" in text
    assert '"} 129931554972\n' in text
    assert "_total" not in text
    openmetrics = exposed(found.families.items(), Format.OPENMETRICS)
    assert all(f"# TYPE {name} unknown\n" in openmetrics for name in counts)
    assert read(text.encode()).samples == read(openmetrics.encode()).samples


def test_05_both_spellings_on_one_page_are_one_reading() -> None:
    found = understood(page("05") + page("05", "variant_from_python_fake"))
    assert found.families == understood(page("05")).families
    assert found.dropped == {"duplicate": 4}


GENERATIONS = {
    "gen1_lowercase": ({GPU_UTIL: 64, ENGINE: 0.61, "DCGM_FI_DEV_SM_CLOCK": 1380, "DCGM_FI_DEV_FB_USED": 31_000}),
    "gen2_no_pci": ({GPU_UTIL: 64, ENGINE: 0.61}),
    "gen3_current": ({GPU_UTIL: 64, ENGINE: 0.61, "DCGM_FI_DEV_XID_ERRORS": 31}),
    "gen4_renamed_fields": (
        {GPU_UTIL: 64, ENGINE: 0.61, "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE": 0.25, "DCGM_FI_DEV_POWER_USAGE": 430.0}
    ),
}


@pytest.mark.parametrize("generation", GENERATIONS)
def test_07_generations_of_one_exporter(generation: str) -> None:
    found = understood(page("07", generation), hostname="lab-node-a")
    assert {family.name: samples[0].value for family, samples in found.families.items()} == GENERATIONS[generation]
    assert found.dropped == {}
    (gpu,) = found.gpus.values()
    assert (gpu.uuid, gpu.index, gpu.up) == (UUID(0), "0", True)
    for samples in found.families.values():
        labels = dict(samples[0].labels)
        assert (labels["gpu"], labels["UUID"], labels["Hostname"]) == ("0", UUID(0), "lab-node-a")
        assert not labels.keys() & {"uuid", "gpu_uuid", "hostname", "model_name", "DCGM_FI_PROCESS_NAME"}


def test_07_workload_labels_of_the_first_generation() -> None:
    found = understood(page("07", "gen1_lowercase"))
    labels = dict(found.families[BY_NAME["DCGM_FI_DEV_FB_USED"]][0].labels)
    assert (labels["pod"], labels["namespace"], labels["container"]) == ("t-0", "ml", "main")


def test_07_links_are_series_of_their_own() -> None:
    found = understood(page("07", "nvlink_entity"))
    counts = values(found, "DCGM_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_TOTAL", "nvlink")
    assert counts == {("0",): 0, ("1",): 4}
    ((family, samples),) = found.families.items()
    assert family.type == "counter"
    assert [name for name, _ in samples[0].labels] == [
        "nvlink", "gpu", "UUID", "pci_bus_id", "device", "modelName", "Hostname",
    ]  # fmt: skip


def test_07_the_host_label_is_switchable() -> None:
    for generation in GENERATIONS:
        found = understood(page("07", generation), hostname="lab-node-a", hostname_label="hostname")
        for samples in found.families.values():
            labels = dict(samples[0].labels)
            assert labels["hostname"] == "lab-node-a"
            assert "Hostname" not in labels


def test_07_a_code_in_words_is_no_identity() -> None:
    twice = page("07", "gen3_current")
    twice += twice.replace('err_code="31",err_msg="GPU memory page fault"', 'err_code="0"')
    found = understood(twice)
    assert found.dropped == {"duplicate": 3}
    (xid,) = found.families[BY_NAME["DCGM_FI_DEV_XID_ERRORS"]]
    assert dict(xid.labels)["err_msg"] == "GPU memory page fault"


def test_17_busy_is_not_useful_and_scales_are_not_guessed() -> None:
    found = understood(page("17"))
    assert found.dropped == {"range": 1}
    util, active = by_gpu(found, GPU_UTIL), by_gpu(found, "DCGM_FI_PROF_SM_ACTIVE")
    assert [gpu for gpu in active if util[gpu] > 90 and active[gpu] < 0.5] == ["1"]
    assert by_gpu(found, "DCGM_FI_PROF_SM_OCCUPANCY")["3"] == 1.0
    assert "3" not in active
    assert by_gpu(found, "DCGM_FI_PROF_PCIE_RX_BYTES")["1"] == 4_100_000
    tensor, engine = by_gpu(found, "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE"), by_gpu(found, ENGINE)
    assert all(tensor[gpu] <= active[gpu] <= engine[gpu] <= 1.0 for gpu in active)
    assert math.isclose(sum(util.values()) / 4, 99.75)
