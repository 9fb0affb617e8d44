"""From a tick to samples: every value, its unit and its place."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from exporter.catalogue import BY_NAME, DCGM_FAMILIES, FAMILIES, GPU_LABELS
from exporter.page import Page
from exporter.pages import Pages
from exporter.render import Format
from simulator.names import PHASES, STEP_SECONDS_BUCKETS
from simulator.observation import Learning, Tick
from tests.exporter.exposition import Exposition, official, read
from tests.exporter.ticks import StubClock, StubEngine, run_info, tick, with_devices, without_gpu

OPENMETRICS = "application/openmetrics-text"


def pages_of(source: Tick, **options: str) -> Pages:
    return Pages(StubEngine(tick=source), clock=StubClock(source.timestamp), **options)  # type: ignore[arg-type]


def whole(source: Tick, accept: str | None = None) -> Exposition:
    return read(pages_of(source).all(accept).body)


def expected_device_fields(source: Tick, rank: int) -> dict[str, float]:
    devices, counters = source.devices, source.counters
    nvlink = devices.nvlink_tx_bytes_per_second[rank] + devices.nvlink_rx_bytes_per_second[rank]
    return {
        "DCGM_FI_DEV_SM_CLOCK": round(devices.sm_clock_mhz[rank]),
        "DCGM_FI_DEV_MEM_CLOCK": 2619,
        "DCGM_FI_DEV_MEMORY_TEMP": round(devices.memory_temperature_celsius[rank]),
        "DCGM_FI_DEV_GPU_TEMP": round(devices.temperature_celsius[rank]),
        "DCGM_FI_DEV_POWER_USAGE": devices.power_watts[rank],
        "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION": round(counters.energy_joules[rank] * 1000),
        "DCGM_FI_DEV_PCIE_REPLAY_COUNTER": 0,
        "DCGM_FI_DEV_GPU_UTIL": round(devices.gpu_util_percent[rank]),
        "DCGM_FI_DEV_MEM_COPY_UTIL": round(devices.mem_copy_util_percent[rank]),
        "DCGM_FI_DEV_ENC_UTIL": 0,
        "DCGM_FI_DEV_DEC_UTIL": 0,
        "DCGM_FI_DEV_XID_ERRORS": 0,
        "DCGM_FI_DEV_FB_FREE": 81_559 - 61_234 - 551,
        "DCGM_FI_DEV_FB_USED": 61_234,
        "DCGM_FI_DEV_FB_RESERVED": 551,
        "DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL": round(nvlink / 1e6),
        "DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS": 0,
        "DCGM_FI_DEV_CORRECTABLE_REMAPPED_ROWS": 0,
        "DCGM_FI_DEV_ROW_REMAP_FAILURE": 0,
        "DCGM_FI_DEV_POWER_VIOLATION": round(counters.power_violation_seconds[rank] * 1e9),
        "DCGM_FI_DEV_THERMAL_VIOLATION": round(counters.thermal_violation_seconds[rank] * 1e9),
        "DCGM_FI_DEV_CLOCK_THROTTLE_REASONS": int(devices.throttle_reasons[rank]),
    }


def expected_profiling_fields(source: Tick, rank: int) -> dict[str, float]:
    devices = source.devices
    return {
        "DCGM_FI_PROF_GR_ENGINE_ACTIVE": devices.gr_engine_active[rank],
        "DCGM_FI_PROF_SM_ACTIVE": devices.sm_active[rank],
        "DCGM_FI_PROF_SM_OCCUPANCY": devices.sm_occupancy[rank],
        "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE": devices.tensor_active[rank],
        "DCGM_FI_PROF_DRAM_ACTIVE": devices.dram_active[rank],
        "DCGM_FI_PROF_PIPE_FP64_ACTIVE": 0,
        "DCGM_FI_PROF_PIPE_FP32_ACTIVE": devices.fp32_active[rank],
        "DCGM_FI_PROF_PIPE_FP16_ACTIVE": devices.fp16_active[rank],
        "DCGM_FI_PROF_PCIE_TX_BYTES": round(devices.pcie_tx_bytes_per_second[rank]),
        "DCGM_FI_PROF_PCIE_RX_BYTES": round(devices.pcie_rx_bytes_per_second[rank]),
        "DCGM_FI_PROF_NVLINK_TX_BYTES": round(devices.nvlink_tx_bytes_per_second[rank]),
        "DCGM_FI_PROF_NVLINK_RX_BYTES": round(devices.nvlink_rx_bytes_per_second[rank]),
    }


def test_every_board_reading_in_dcgm_units() -> None:
    source = tick(run_info(ranks=6, gpus_per_node=4))
    page = whole(source)
    for rank, gpu in enumerate(source.info.gpus):
        expected = expected_device_fields(source, rank) | expected_profiling_fields(source, rank)
        assert set(expected) == {family.name for family in DCGM_FAMILIES}
        for name, value in expected.items():
            tolerance = 0.5e-6 if BY_NAME[name].number == "double" else 0.0
            assert page.value(name, UUID=gpu.uuid) == pytest.approx(value, rel=0, abs=tolerance), name


def test_ints_and_doubles_are_spelled_as_dcgm_exporter_does() -> None:
    page = whole(tick(run_info()))
    for family in DCGM_FAMILIES:
        for sample in page.of(family.name):
            assert sample.text.isdigit() if family.number == "int" else len(sample.text.partition(".")[2]) == 6


def test_labels_stand_in_the_catalogues_order() -> None:
    page = whole(tick(run_info(ranks=16, gpus_per_node=8, nics=2)))
    for sample in page.samples:
        family = BY_NAME.get(sample.name) or BY_NAME["training_step_seconds"]
        names = tuple(name for name, _ in sample.labels)
        assert names == family.labels or names == (*family.labels, "le")
    power = page.of("DCGM_FI_DEV_POWER_USAGE")[9]
    assert power.labels == tuple(
        zip(
            GPU_LABELS,
            (
                "1",
                "GPU-00000009-5eed-4000-8000-000000000009",
                "00000000:19:00.0",
                "nvidia1",
                "NVIDIA H100 80GB HBM3",
                "node-01",
                "550.90.07",
            ),
            strict=True,
        )
    )


@pytest.mark.parametrize("spelling", ["Hostname", "hostname"])
def test_the_spelling_of_hostname_is_an_option_and_the_same_everywhere(spelling: str) -> None:
    body = pages_of(tick(run_info(ranks=16, gpus_per_node=8, nics=1)), hostname_label=spelling).all().body
    other = ({"Hostname", "hostname"} - {spelling}).pop()
    assert f'{spelling}="node-01"'.encode() in body
    assert f'{other}="'.encode() not in body


def test_any_other_spelling_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match=r"hostname_label: 'host' is neither 'Hostname' nor 'hostname'"):
        pages_of(tick(run_info()), hostname_label="host")


def test_per_rank_and_per_node_values_are_exact() -> None:
    source = tick(run_info(ranks=12, gpus_per_node=8, nics=3))
    page, counters = whole(source), source.counters
    for rank in range(12):
        of_rank = {"run": "workshop-4gpu-1", "rank": str(rank)}
        for row, phase in enumerate(PHASES):
            seconds = page.value("training_phase_seconds_total", phase=phase, **of_rank)
            assert seconds == counters.phase_seconds[row, rank]
        assert page.value("training_collective_seconds_total", **of_rank) == counters.collective_seconds[rank]
        assert page.value("training_collective_bytes_total", **of_rank) == counters.collective_bytes[rank]
        assert page.value("training_dataloader_queue_batches", **of_rank) == source.queue_batches[rank]
        assert page.value("training_dataloader_capacity_batches", **of_rank) == 16
        gpu = source.info.gpus[rank]
        place = {"Hostname": f"node-0{rank // 8}", "gpu": str(rank % 8), "UUID": gpu.uuid}
        assert page.value("training_rank_info", **of_rank, **place) == 1
    for node in range(2):
        host = {"run": "workshop-4gpu-1", "Hostname": f"node-0{node}"}
        assert page.value("training_storage_read_bytes_total", **host) == counters.storage_read_bytes[node]
        for nic in range(3):
            port = host | {"device": f"mlx5_{nic}"}
            transmitted = page.value("training_network_transmit_bytes_total", **port)
            assert transmitted == counters.network_transmit_bytes[node, nic]
            assert page.value("training_network_pause_frames_total", **port) == counters.network_pause_frames[node, nic]
            assert page.value("training_network_retransmits_total", **port) == counters.network_retransmits[node, nic]


def test_run_values_and_histogram() -> None:
    source = tick(run_info())
    page, counters = whole(source), source.counters
    assert page.value("training_steps_total") == counters.steps
    assert page.value("training_tokens_total") == counters.tokens
    assert page.value("training_model_flops_total") == counters.model_flops
    assert page.value("training_peak_flops_per_second") == source.info.peak_flops_per_second
    assert page.value("training_loss") == source.learning.loss
    assert page.value("training_last_step_timestamp_seconds") == source.last_step_timestamp
    buckets = page.of("training_step_seconds_bucket")
    assert [float(dict(bucket.labels)["le"]) for bucket in buckets] == [*STEP_SECONDS_BUCKETS, math.inf]
    assert [bucket.value for bucket in buckets] == counters.step_seconds_buckets.tolist()
    assert page.value("training_step_seconds_sum") == counters.step_seconds_sum
    assert page.value("training_step_seconds_count") == counters.steps


def test_run_info_says_how_flops_are_counted() -> None:
    (info,) = whole(tick(run_info())).of("training_run_info")
    assert dict(info.labels) == {
        "run": "workshop-4gpu-1",
        "model": "gpt-1.2b",
        "precision": "bf16",
        "strategy": "ddp",
        "gpu_model": "NVIDIA H100 80GB HBM3",
        "flops_convention": "6N+12LdT",
        "source": "simulated",
    }


def test_an_absent_reading_is_no_sample_and_its_neighbours_stay() -> None:
    nan = math.nan
    changes = {"power_watts": {1: nan}, "gpu_util_percent": {2: nan}, "fp16_active": dict.fromkeys(range(4), nan)}
    page = whole(with_devices(tick(run_info()), changes))
    assert [dict(s.labels)["gpu"] for s in page.of("DCGM_FI_DEV_POWER_USAGE")] == ["0", "2", "3"]
    assert [dict(s.labels)["gpu"] for s in page.of("DCGM_FI_DEV_GPU_UTIL")] == ["0", "1", "3"]
    assert "DCGM_FI_PROF_PIPE_FP16_ACTIVE" not in page.types
    assert len(page.of("DCGM_FI_DEV_GPU_TEMP")) == 4
    assert [s.value for s in page.of("exporter_gpu_up")] == [1, 1, 1, 1]
    assert page.value("exporter_samples_dropped_total", reason="range") == 0


def test_a_lost_gpu_has_no_series_but_its_rank_has() -> None:
    page = whole(without_gpu(tick(run_info()), 2))
    for family in DCGM_FAMILIES:
        assert [dict(s.labels)["gpu"] for s in page.of(family.name)] == ["0", "1", "3"], family.name
    assert [dict(s.labels)["reason"] for s in page.of("exporter_gpu_up")] == ["", "", "gpu_lost", ""]
    assert page.value("exporter_gpu_up", gpu="2") == 0
    assert page.value("exporter_gpus_expected", source="simulated") == 4
    assert page.value("exporter_gpus_present", source="simulated") == 3
    assert page.value("training_collective_seconds_total", rank="2") > 0


def test_an_unbelievable_reading_is_dropped_and_counted_and_rounding_is_cut() -> None:
    source = with_devices(
        tick(run_info()),
        {"sm_active": {0: 65.0, 1: 1.004}, "power_watts": {2: -5.0, 3: math.inf}, "gpu_util_percent": {0: 100.4}},
    )
    engine = StubEngine(tick=source)
    pages = Pages(engine, clock=StubClock(source.timestamp))
    page = read(pages.all().body)
    assert page.of("DCGM_FI_PROF_SM_ACTIVE")[0].text == "1.000000"
    assert [dict(s.labels)["gpu"] for s in page.of("DCGM_FI_PROF_SM_ACTIVE")] == ["1", "2", "3"]
    assert [dict(s.labels)["gpu"] for s in page.of("DCGM_FI_DEV_POWER_USAGE")] == ["0", "1"]
    assert page.value("DCGM_FI_DEV_GPU_UTIL", gpu="0") == 100
    engine.tick = tick(source.info, index=61)
    assert read(pages.run().body).value("exporter_samples_dropped_total", source="simulated", reason="range") == 3


@pytest.mark.parametrize(("value", "text"), [(math.nan, "NaN"), (math.inf, "+Inf"), (2.5, "2.5")])
def test_a_diverged_run_shows(value: float, text: str) -> None:
    source = replace(tick(run_info()), learning=Learning(value, value, 3e-4, 1.0))
    for accept in (None, OPENMETRICS):
        page = whole(source, accept)
        assert [s.text for s in (*page.of("training_loss"), *page.of("training_grad_norm"))] == [text, text]


def test_before_the_first_step_nothing_is_known_of_learning() -> None:
    first = tick(run_info(), index=0)
    source = replace(first, learning=Learning(math.nan, math.nan, 3e-4, 1.0), last_step=None, last_step_timestamp=0.0)
    for accept in (None, OPENMETRICS):
        page = whole(source, accept)
        assert page.value("training_steps_total") == 0
        assert not {"training_loss", "training_grad_norm", "training_last_step_timestamp_seconds"} & page.types.keys()
        assert all(not sample.exemplar for sample in page.samples)


def test_the_exemplar_stands_in_openmetrics_only_at_the_last_steps_bucket() -> None:
    source = tick(run_info())
    assert source.last_step is not None
    slowest = source.last_step.slowest_rank
    marked = [s for s in whole(source, OPENMETRICS).samples if s.exemplar]
    assert [(s.name, dict(s.labels)["le"]) for s in marked] == [("training_step_seconds_bucket", "0.25")]
    assert marked[0].exemplar == f' # {{step="300",slowest_rank="{slowest}"}} 0.21 1700000060.875'
    assert b" # " not in pages_of(source).all().body


@pytest.mark.parametrize(("seconds", "bound"), [(0.005, "0.005"), (0.0051, "0.01"), (300.0, "300.0"), (301.0, "+Inf")])
def test_the_exemplars_bucket_includes_its_bound(seconds: float, bound: str) -> None:
    source = tick(run_info())
    assert source.last_step is not None
    source = replace(source, last_step=replace(source.last_step, duration_seconds=seconds))
    marked = [s for s in whole(source, OPENMETRICS).samples if s.exemplar]
    assert [dict(s.labels)["le"] for s in marked] == [bound]


def test_label_text_is_escaped_wherever_it_comes_from() -> None:
    odd = 'a\\b"c\nd'
    info = run_info(ranks=2, gpus_per_node=1, nics=1, run=odd)
    info = replace(info, hostnames=(odd, "n"), nic_devices=(odd,), gpu_model=odd, model=odd, driver_version=odd)
    page = whole(tick(info))
    assert page.value("DCGM_FI_DEV_SM_CLOCK", Hostname=odd, modelName=odd, DCGM_FI_DRIVER_VERSION=odd) > 0
    assert page.value("training_network_retransmits_total", run=odd, Hostname=odd, device=odd) >= 0
    assert page.value("training_rank_info", run=odd, Hostname=odd) == 1
    assert page.value("training_run_info", run=odd, model=odd, gpu_model=odd) == 1


@settings(max_examples=20, deadline=None)
@given(
    ranks=st.integers(1, 20),
    gpus_per_node=st.integers(1, 8),
    nics=st.integers(0, 3),
    seed=st.integers(0, 2**32 - 1),
    gaps=st.lists(st.tuples(st.sampled_from(["power_watts", "sm_active", "sm_clock_mhz"]), st.integers(0, 19))),
)
def test_both_formats_say_the_same_to_both_parsers(
    ranks: int, gpus_per_node: int, nics: int, seed: int, gaps: list[tuple[str, int]]
) -> None:
    source = tick(run_info(ranks=ranks, gpus_per_node=gpus_per_node, nics=nics), seed=seed)
    for name, rank in gaps:
        source = with_devices(source, {name: {rank % ranks: math.nan}})
    pages = pages_of(source)
    text, open_ = pages.all(), pages.all(OPENMETRICS)
    strict = {(s.name, frozenset(s.labels)): s.value for s in read(text.body).samples if not _moves(s.name)}
    assert {(s.name, frozenset(s.labels)): s.value for s in read(open_.body).samples if not _moves(s.name)} == strict
    assert _official(open_, openmetrics=True) == strict
    assert _official(text, openmetrics=False) == {
        (_as_text_parser_reads(name), labels): value for (name, labels), value in strict.items()
    }


def _official(page: Page, *, openmetrics: bool) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in official(page.body.decode(), openmetrics=openmetrics)
        for sample in family.samples
        if not _moves(sample.name)
    }


def _moves(name: str) -> bool:
    """Whether a value of the process changes from one rendering to the next."""
    return name.startswith("process_")


def _as_text_parser_reads(name: str) -> str:
    # prometheus_client renames a counter that lacks `_total` while it parses; Prometheus does not.
    family = BY_NAME.get(name)
    return f"{name}_total" if family is not None and family.openmetrics_type == "unknown" else name


def test_every_family_of_the_catalogue_appears_on_its_page() -> None:
    source = tick(run_info(ranks=16, gpus_per_node=8, nics=1))
    pages = pages_of(source)
    shown = {
        "node": read(pages.node("node-01").body).types.keys(),
        "run": read(pages.run().body).types.keys(),
        "truth": read(pages.truth().body).types.keys(),
    }
    for family in FAMILIES:
        if family.page != "export":
            assert family.name in shown[family.page], family.name
    assert whole(source).types.keys() == shown["node"] | shown["run"]


def test_types_are_the_catalogues() -> None:
    source = tick(run_info(ranks=8, gpus_per_node=8, nics=1))
    expected = [family for family in FAMILIES if family.page in ("node", "run")]
    assert whole(source).types == {f.name: f.type for f in expected}
    open_ = whole(source, OPENMETRICS)
    assert open_.types == {f.openmetrics_name: f.openmetrics_type for f in expected}
    assert pages_of(source).all(OPENMETRICS).body.endswith(b"\n" + Format.OPENMETRICS.ending.encode())


def test_nothing_of_a_tick_is_changed_by_rendering() -> None:
    source = tick(run_info())
    for array in (source.devices.power_watts, source.devices.gpu_util_percent, source.counters.energy_joules):
        array.flags.writeable = False
    before = source.devices.gpu_util_percent.copy()
    whole(source)
    assert np.array_equal(before, source.devices.gpu_util_percent)
