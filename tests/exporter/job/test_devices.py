"""Which GPU a rank means. The readings of CUDA_VISIBLE_DEVICES are CUDA's own: NVIDIA's programming guide has them."""

from __future__ import annotations

import pytest

from exporter.reading import Gpu
from exporter.sources.job.devices import find_gpu
from exporter.sources.job.report import GpuClaim
from tests.exporter.job.reports import gpu_uuid

GPUS = tuple(Gpu(uuid=gpu_uuid(index), index=str(index)) for index in range(4))


def index(visible: str | None, device: int | None = 0) -> str | None:
    """Label `gpu` of the board; None when it cannot be told."""
    found = find_gpu(GpuClaim(visible_devices=visible, device_index=device), GPUS)
    return None if found is None else found.index


@pytest.mark.parametrize(
    ("visible", "seen"),
    [
        (None, "0123"),
        ("0,1,2,3", "0123"),
        ("2", "2"),
        ("3,1", "31"),
        (" 2 , 1 ", "21"),
        ("+1", "1"),
        ("1gpu,2", "12"),
        ("2,-1,1", "2"),
        ("2,9,1", "2"),
        ("9", ""),
        ("2,x,1", "2"),
        ("2,,1", "2"),
        ("1,1", ""),
        ("1,2,1", ""),
        ("1,9,1", "1"),
        ("", ""),
        ("  ", ""),
        (",", ""),
        ("NoDevFiles", ""),
        ("none", ""),
        ("void", ""),
        ("all", ""),
        ("0x1", "0"),
        ("9" * 400, ""),
        (f"{gpu_uuid(3)},{gpu_uuid(1)}", "31"),
        ("GPU-00000003", "3"),
        ("GPU-00000003,GPU-00000000-5eed", "30"),
        ("gpu-00000002", "2"),
        ("GPU-0000000", ""),
        ("GPU-00000001,GPU-0", "1"),
        ("GPU-00000001,GPU-00000001-5eed", ""),
        ("GPU-00000001,2", "1"),
        ("2,GPU-00000001", "2"),
        ("GPU-", ""),
        ("GPU-ffffffff", ""),
        (f"MIG-{gpu_uuid(2)}/7/0", "2"),
        (f"MIG-{gpu_uuid(2)}/7/0,MIG-{gpu_uuid(1)}/7/0", "2"),
        ("MIG-5eed0000-1111-2222-3333-444455556666", ""),
    ],
)
def test_the_list_is_read_as_cuda_reads_it(visible: str | None, seen: str) -> None:
    found = [index(visible, device) for device in range(4)]
    assert found == [*seen, *[None] * (4 - len(seen))]


def test_without_an_ordinal_only_a_list_of_one_tells() -> None:
    assert index("3", None) == "3"
    assert index("3,1", None) is None
    assert index(None, None) is None


def test_an_ordinal_beyond_every_board_is_no_board() -> None:
    assert index(None, 9) is None
    assert index("0,1", 2) is None


@pytest.mark.parametrize("uuid", [gpu_uuid(1), gpu_uuid(1).upper(), gpu_uuid(1).removeprefix("GPU-")])
def test_a_uuid_goes_before_the_list_with_or_without_its_prefix(uuid: str) -> None:
    claim = GpuClaim(uuid=uuid, visible_devices="3", device_index=0)
    assert find_gpu(claim, GPUS) == GPUS[1]


def test_a_full_uuid_stands_for_itself_where_another_exporter_reads_the_boards() -> None:
    uuid = gpu_uuid(7)
    for claim in (
        GpuClaim(uuid=uuid.removeprefix("GPU-")),
        GpuClaim(visible_devices=f"{uuid},GPU-1", device_index=0),
        GpuClaim(uuid=f"MIG-{uuid}/1/0"),
    ):
        for gpus in ((), GPUS):
            assert find_gpu(claim, gpus) == Gpu(uuid=uuid, index="")


@pytest.mark.parametrize("uuid", ["MIG-5eed0000-1111-2222-3333-444455556666", "GPU-1", "x", gpu_uuid(1) + "0"])
def test_a_uuid_that_names_no_board_joins_to_none(uuid: str) -> None:
    assert find_gpu(GpuClaim(uuid=uuid, visible_devices="1", device_index=0), GPUS) is None


def test_boards_without_a_uuid_are_found_by_their_index_alone() -> None:
    nameless = (Gpu(uuid="", index="0", reason="gpu_lost"), Gpu(uuid=gpu_uuid(1), index="1"))
    assert find_gpu(GpuClaim(device_index=0), nameless) == nameless[0]
    assert find_gpu(GpuClaim(visible_devices="GPU-0"), nameless) == nameless[1]


@pytest.mark.parametrize("visible", [None, "2", "2,1"])
@pytest.mark.parametrize(
    ("name", "joined"),
    [("NVIDIA H100 80GB HBM3", True), ("H100 80GB HBM3", True), ("", True), ("NVIDIA A100-SXM4-40GB", False)],
)
def test_a_number_that_leads_to_another_model_is_of_another_machine(
    visible: str | None, name: str, joined: bool
) -> None:
    """In a container, or in CUDA's own order, numbers are not those of the host."""
    labels = (("modelName", "NVIDIA H100 80GB HBM3"),)
    gpus = tuple(Gpu(uuid=gpu_uuid(index), index=str(index), labels=labels) for index in range(4))
    claim = GpuClaim(visible_devices=visible, device_index=0, name=name)
    assert (find_gpu(claim, gpus) is not None) == joined


def test_a_uuid_needs_no_name() -> None:
    gpus = (Gpu(uuid=gpu_uuid(0), index="0", labels=(("modelName", "NVIDIA H100 80GB HBM3"),)),)
    assert find_gpu(GpuClaim(uuid=gpu_uuid(0), name="something else"), gpus) == gpus[0]
