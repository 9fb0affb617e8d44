"""Reports as text: the simulated job's names, labels and spelling, and nothing that was not reported."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from exporter.catalogue import NODE_FAMILIES, RANK_FAMILIES, RUN_FAMILIES, find
from exporter.reading import Gpu
from exporter.render import Format
from exporter.sources import simulated
from exporter.sources.job.families import Peak, Place, families
from exporter.sources.job.report import Report
from exporter.sources.labels import LabelBook
from simulator.names import STEP_SECONDS_BUCKETS
from tests.exporter.exposition import Exposition, official, read
from tests.exporter.job.reports import gpu_uuid, no_peak, report
from tests.exporter.ticks import run_info, tick

GPUS = tuple(
    Gpu(uuid=gpu_uuid(index), index=str(index), labels=(("gpu", str(index)), ("modelName", "NVIDIA H100 NVL")))
    for index in range(4)
)
NOT_A_JOBS = {family.name for family in NODE_FAMILIES}


def text(
    *reports: Report, format_: Format = Format.TEXT, peak: Peak = no_peak, label: str = "Hostname", gpus: object = GPUS
) -> str:
    """The families of a node."""
    assert isinstance(gpus, tuple)
    place = Place(hostname="node-07", hostname_label=label, gpus=gpus, peak=peak)
    return "".join(families(reports, place, format_))


def page(*reports: Report, peak: Peak = no_peak, gpus: object = GPUS) -> Exposition:
    """The same, read by a strict reader."""
    return read(text(*reports, peak=peak, gpus=gpus).encode())


ALL_OF_A_RUN = tuple(report(rank=rank) for rank in range(4))


@pytest.mark.parametrize("format_", Format)
def test_it_prints_what_the_simulated_job_prints_but_for_what_a_process_cannot_see(format_: Format) -> None:
    moment = tick(run_info())
    heads = LabelBook(moment.info).all()
    theirs = read(
        "".join((*simulated.rank_families(moment, heads, format_), *simulated.run_families(moment, format_))).encode()
    )
    ours = read(text(*ALL_OF_A_RUN, format_=format_).encode())
    assert list(ours.types.items()) == list(theirs.types.items())
    assert ours.helps == theirs.helps

    def shape(found: Exposition) -> list[tuple[str, tuple[str, ...], str | None]]:
        rows = []
        for sample in found.samples:
            labels = dict(sample.labels)
            if labels.get("phase") != "collective_wait":
                rows.append((sample.name, tuple(labels), labels.get("phase", labels.get("le", labels.get("rank")))))
        return rows

    assert shape(ours) == shape(theirs)


def test_every_training_family_is_there_except_those_of_the_node() -> None:
    assert set(page(*ALL_OF_A_RUN).types) == {family.name for family in (*RANK_FAMILIES, *RUN_FAMILIES)}
    assert not NOT_A_JOBS & set(page(*ALL_OF_A_RUN).types)


def test_values_are_those_of_the_report() -> None:
    found = page(report(rank=0))
    assert found.value("training_phase_seconds_total", rank="0", phase="collective") == 7.5
    assert found.value("training_collective_bytes_total") == 3e6
    assert found.value("training_dataloader_capacity_batches") == 16
    assert found.value("training_nonfinite_steps_total") == 1
    assert found.value("training_skipped_steps_total") == 2
    assert found.value("training_checkpoints_total") == 3
    assert found.value("training_grad_norm_spikes_total") == 4
    assert found.of("training_tokens_total")[0].text == "40960"
    assert found.value("training_model_flops_total") == 1.5e15
    assert found.of("training_run_info")[0].labels == (
        ("run", "night"), ("model", "gpt-1.2b"), ("precision", "bf16"), ("strategy", "ddp"),
        ("gpu_model", "NVIDIA H100 NVL"), ("flops_convention", "6N"), ("source", "job"),
    )  # fmt: skip


def test_buckets_are_cumulative() -> None:
    found = page(report(rank=0))
    buckets = [sample.value for sample in found.of("training_step_seconds_bucket")]
    assert len(buckets) == len(STEP_SECONDS_BUCKETS) + 1
    assert buckets[11:15] == [0, 1, 18, 20]
    assert buckets[-1] == found.value("training_step_seconds_count") == 20
    assert found.value("training_step_seconds_sum") == 58.5


def test_only_rank_0_speaks_for_the_run() -> None:
    elsewhere = page(*(report(rank=rank) for rank in range(1, 4)))
    assert set(elsewhere.types) == {family.name for family in RANK_FAMILIES}
    here = page(*ALL_OF_A_RUN)
    for family in RUN_FAMILIES:
        for name in family.sample_names:
            assert {dict(sample.labels)["run"] for sample in here.of(name)} == {"night"}
        assert len(here.of(family.sample_names[-1])) == 1, family.name


def test_what_was_not_reported_is_absent_and_not_nothing() -> None:
    unknown: dict[str, object] = dict.fromkeys(
        set(report().__slots__) - {"run", "rank", "world_size", "session", "started", "time", "seq", "final"}
    )
    bare = page(report(rank=0, step_seconds=None, **unknown), gpus=())
    assert set(bare.types) == {"training_rank_info", "training_run_info"}
    assert bare.of("training_rank_info")[0].labels == (("run", "night"), ("rank", "0"), ("Hostname", "node-07"))
    assert bare.of("training_run_info")[0].labels == (("run", "night"), ("source", "job"))
    assert text() == ""


def test_before_the_first_step_there_is_no_last_one() -> None:
    found = page(report(rank=0, steps=0, last_step_time=None, loss=None))
    assert found.value("training_steps_total") == 0
    assert "training_last_step_timestamp_seconds" not in found.types
    assert "training_loss" not in found.types


@pytest.mark.parametrize(("written", "shown"), [("NaN", "NaN"), ("+Inf", "+Inf"), ("-Inf", "-Inf"), (1e308, "1e+308")])
def test_a_loss_that_is_none_is_not_hidden(written: object, shown: str) -> None:
    assert page(report(rank=0, loss=written)).of("training_loss")[0].text == shown


def test_ranks_join_to_the_boards_of_this_node() -> None:
    found = page(report(gpu={"visible_devices": "3,1", "device_index": 1}), report(rank=3, gpu={"uuid": gpu_uuid(7)}))
    assert [sample.labels for sample in found.of("training_rank_info")] == [
        (("run", "night"), ("rank", "2"), ("Hostname", "node-07"), ("gpu", "1"), ("UUID", gpu_uuid(1))),
        (("run", "night"), ("rank", "3"), ("Hostname", "node-07"), ("UUID", gpu_uuid(7))),
    ]


def test_the_newer_spelling_of_the_nodes_label_is_followed() -> None:
    info = read(text(report(), label="hostname").encode()).of("training_rank_info")[0]
    assert info.labels[2] == ("hostname", "node-07")


def test_the_peak_is_of_all_ranks_and_the_reports_own_goes_first() -> None:
    def peak(name: str, precision: str) -> float | None:
        return {("NVIDIA H100 NVL", "bf16"): 8e14, ("Foo", "bf16"): 1e14}.get((name, precision))

    assert page(report(rank=0), peak=peak).value("training_peak_flops_per_second") == 8 * 989.4e12
    looked_up = report(rank=0, peak_flops_per_second=None)
    assert page(looked_up, peak=peak).value("training_peak_flops_per_second") == 8 * 8e14
    by_itself = report(rank=0, peak_flops_per_second=None, gpu={"name": "Foo"})
    assert page(by_itself, peak=peak).value("training_peak_flops_per_second") == 8 * 1e14
    for unknown in (
        report(rank=0, peak_flops_per_second=None, precision="fp12"),
        report(rank=0, peak_flops_per_second=None, gpu={"name": "Bar"}),
    ):
        assert "training_peak_flops_per_second" not in page(unknown, peak=peak).types


def test_runs_side_by_side_share_a_family_and_no_series() -> None:
    found = page(report(rank=0), report(rank=0, run="day"), report(rank=1, run="day"))
    assert [dict(sample.labels)["run"] for sample in found.of("training_steps_total")] == ["night", "day"]
    assert len(found.of("training_step_seconds_bucket")) == 2 * (len(STEP_SECONDS_BUCKETS) + 1)


ODD = st.text(st.characters(codec="utf-8", exclude_categories=["Cc"]) | st.sampled_from('"\\\n,={} #'), max_size=128)


@given(
    names=st.lists(ODD.filter(bool), min_size=1, max_size=3, unique=True),
    model=ODD,
    loss=st.floats(),
    ranks=st.sets(st.integers(0, 7), min_size=1, max_size=4),
)
@settings(max_examples=150, deadline=None, derandomize=True)
def test_no_name_breaks_the_page_or_makes_a_series_of_its_own(
    names: list[str], model: str, loss: float, ranks: set[int]
) -> None:
    written = "NaN" if loss != loss else loss if abs(loss) != float("inf") else f"{'+' if loss > 0 else '-'}Inf"
    reports = [report(run=name, model=model, rank=rank, loss=written) for name in names for rank in ranks]
    found = page(*reports)
    for sample in found.samples:
        assert dict(sample.labels)["run"] in names
        assert find(sample.name) in (*RANK_FAMILIES, *RUN_FAMILIES)
    assert len(found.of("training_rank_info")) == len(reports)
    for format_ in Format:
        body = text(*reports, format_=format_) + format_.ending
        read_again = official(body, openmetrics=format_ is Format.OPENMETRICS)
        assert sum(len(family.samples) for family in read_again) == len(found.samples)
        assert {s.labels["run"] for family in read_again for s in family.samples} == set(names)
