"""The isolated sweep sees an idle fabric; the step sees what the job makes of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from faults.parse import parse_fault
from simulator.presets import PRESETS, preset
from simulator.sweep import in_job, parse_size, sweep
from tests.simulator.jobs import quiet, small

WORKSHOP = preset("workshop-4gpu")
GIB = 2**30


def test_sizes_double_and_the_columns_agree_with_each_other() -> None:
    rows = sweep(preset("anatomy-32gpu"))
    assert [row["size_bytes"] for row in rows] == [8 * 2**power for power in range(32)]
    for row in rows:
        assert list(row) == ["size_bytes", "time_us", "algbw_gb_per_s", "busbw_gb_per_s"]
        assert row["algbw_gb_per_s"] == pytest.approx(row["size_bytes"] / row["time_us"] / 1e3)
        assert row["busbw_gb_per_s"] == pytest.approx(row["algbw_gb_per_s"] * 2 * 31 / 32)
    times = [row["time_us"] for row in rows]
    assert times == sorted(times)


@pytest.mark.parametrize(("low", "high", "sizes"), [(8, 8, [8]), (8, 31, [8, 16]), (3, 24, [3, 6, 12, 24])])
def test_the_sweep_stops_at_the_last_size_that_fits(low: int, high: int, sizes: list[int]) -> None:
    assert [row["size_bytes"] for row in sweep(WORKSHOP, min_bytes=low, max_bytes=high)] == sizes


def test_fewer_nodes_are_another_fabric() -> None:
    job = preset("honest-64xh100")
    one, two, all_of_them = (sweep(job, nodes=nodes, min_bytes=16 * GIB)[0] for nodes in (1, 2, None))
    assert one["busbw_gb_per_s"] > all_of_them["busbw_gb_per_s"]
    assert 450 <= two["busbw_gb_per_s"] <= 510
    assert 370 <= all_of_them["busbw_gb_per_s"] <= 400


def test_a_fault_of_the_fabric_stretches_every_size() -> None:
    calm, slow = sweep(WORKSHOP), sweep(WORKSHOP, collective_factor=2.5)
    for before, after in zip(calm, slow, strict=True):
        assert after["time_us"] == pytest.approx(2.5 * before["time_us"])


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"nodes": 0}, "nodes: 0 is not a whole number from 1 to 4, the nodes of anatomy-32gpu"),
        ({"nodes": 5}, "nodes: 5 is not"),
        ({"min_bytes": 0}, "min_bytes: 0 is not a whole number of bytes from 1 to"),
        ({"min_bytes": 64, "max_bytes": 32}, "max_bytes: 32 is not a whole number of bytes from 64 to"),
        ({"collective_factor": 0.0}, "collective_factor: 0.0 is not a finite number above 0"),
        ({"link_slowdown": float("inf")}, "link_slowdown: inf is not a finite number above 0"),
    ],
)
def test_errors_name_the_key(keys: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        sweep(preset("anatomy-32gpu"), **keys)


def test_one_gpu_has_nobody_to_reduce_with() -> None:
    alone = small(gpus_per_node=1)
    with pytest.raises(ValueError, match="preset: one GPU of small has nobody to reduce with"):
        sweep(alone)
    with pytest.raises(ValueError, match="preset: small holds one copy of the model"):
        in_job(alone, seed=1)


@pytest.mark.parametrize(
    ("text", "size"), [("8", 8), ("16G", 16 * GIB), ("512k", 2**19), (" 1.5M ", 3 * 2**19), ("1T", 2**40)]
)
def test_sizes_are_binary_as_in_nccl_tests(text: str, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "G", "16GB", "-8", "1e3", "0", "0.3", "2000T", "٣"])
def test_other_sizes_are_refused_by_key(text: str) -> None:
    with pytest.raises(ValueError, match=r"max_bytes: .* is not a number of bytes such as 8, 64K"):
        parse_size(text, key="max_bytes")


@pytest.mark.parametrize("name", [name for name in sorted(PRESETS) if PRESETS[name].ranks <= 64])
def test_inside_a_step_the_bus_is_never_faster_than_idle(name: str) -> None:
    seen = in_job(preset(name), seed=1)
    assert 0.0 < seen.busbw_gb_per_s <= seen.idle_busbw_gb_per_s
    assert seen.kernel_seconds.worst >= seen.kernel_seconds.mean > 0.0
    assert 0.0 < seen.share_of_step < 1.0
    assert seen.collectives * seen.bucket_bytes == pytest.approx(seen.bytes_per_step * _halves(name), rel=0.1)
    assert f"{seen.collectives} {seen.kind}" in seen.sentence


def _halves(name: str) -> float:
    """An all-gather counts half an all-reduce."""
    return 2.0 if preset(name).training.strategy == "fsdp" else 1.0


def test_a_quiet_job_without_overlap_gets_all_that_the_fabric_has() -> None:
    job = replace(small(overlap=False, bucket_bytes=1e9, first_bucket_bytes=1e9), noise=quiet())
    seen = in_job(job, seed=1)
    assert seen.collectives == 1
    assert seen.waiting_seconds.worst == pytest.approx(0.0, abs=1e-12)
    assert seen.busbw_gb_per_s == pytest.approx(seen.idle_busbw_gb_per_s, rel=1e-6)
    assert "SMs" not in seen.sentence


def test_a_slow_rank_spoils_the_step_and_the_sweep_does_not_see_it() -> None:
    fault = parse_fault("straggler:ranks=2,slowdown=1.5")
    calm, broken = in_job(WORKSHOP, seed=1), in_job(WORKSHOP, seed=1, faults=[fault])
    assert broken.idle_busbw_gb_per_s == calm.idle_busbw_gb_per_s
    assert broken.busbw_gb_per_s < 0.7 * calm.busbw_gb_per_s
    assert broken.share_of_step > 10 * calm.share_of_step
    assert broken.waiting_seconds.worst > 0.1
    assert broken.waiting_seconds.rank != 2
    assert "for the slowest one" in broken.sentence


def test_the_look_inside_repeats() -> None:
    assert in_job(WORKSHOP, seed=3) == in_job(WORKSHOP, seed=3) != in_job(WORKSHOP, seed=4)
