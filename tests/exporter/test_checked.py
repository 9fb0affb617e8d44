"""What no source may put on a page, however it came by it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from exporter.catalogue import BY_NAME, GPU_UP, Family
from exporter.checked import DUPLICATE, MALFORMED, checked
from exporter.reading import Gpu, Reading, Sample
from tests.exporter.nodes import board, reading, sample

UTIL = BY_NAME["DCGM_FI_DEV_GPU_UTIL"]
GPU = board(0)


def of(family: Family, *samples: Sample) -> Reading:
    return Reading(families={family: samples}, gpus=(GPU,), expected=1)


def test_a_good_reading_is_as_it_was() -> None:
    good = reading(GPU, board(1, reason="gpu_lost"))
    assert checked(good) == good


@pytest.mark.parametrize("found", [None, {}, "no", object()])
def test_what_is_no_reading_is_refused(found: object) -> None:
    with pytest.raises(TypeError, match="must give a Reading"):
        checked(found)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf"), None, "98", True])
def test_a_value_that_is_no_number_costs_its_sample(value: object) -> None:
    found = checked(of(UTIL, sample(GPU, 98), replace(sample(board(1), 0), value=value)))  # type: ignore[arg-type]
    assert [kept.value for kept in found.families[UTIL]] == [98]
    assert found.dropped == {MALFORMED: 1}


@pytest.mark.parametrize(
    "labels",
    [
        (("gpu", "0"), ("gpu", "1")),
        (("a-b", "0"),),
        (("__name__", "x"),),
        (("", "x"),),
        (("gpu", ""),),
        (("gpu", 0),),
        (("gpu\n", "0"),),
    ],
)
def test_labels_that_prometheus_refuses_cost_their_sample(labels: tuple[tuple[str, str], ...]) -> None:
    found = checked(of(UTIL, Sample("x", labels, 1)))
    assert not found.families
    assert found.dropped == {MALFORMED: 1}


def test_a_series_stands_once_whatever_the_order_of_its_labels() -> None:
    one = sample(GPU, 1)
    found = checked(of(UTIL, one, replace(one, labels=one.labels[::-1], value=2)))
    assert found.families[UTIL] == (one,)
    assert found.dropped == {DUPLICATE: 1}


@pytest.mark.parametrize(
    "name",
    [
        "exporter_source_up", "process_cpu_seconds_total", "training_loss", "python_info", "training_new_thing",
        "exporter_foreign", "bad-name", "", "name\n", "ünïcode", "run:x:y", GPU_UP.name,
    ],
)  # fmt: skip
def test_a_family_that_another_part_of_the_page_owns_is_dropped(name: str) -> None:
    found = checked(of(replace(UTIL, name=name), sample(GPU, 1), sample(board(1), 1)))
    assert not found.families
    assert found.dropped == {MALFORMED: 2}


@pytest.mark.parametrize("name", ["DCGM_FI_DEV_FAN_SPEED", "nvidia_smi_something", "DCGM_FI_DEV_GPU_TEMP"])
def test_a_foreign_family_may_stand(name: str) -> None:
    family = replace(UTIL, name=name)
    assert checked(of(family, sample(GPU, 1))).families == {family: (sample(GPU, 1),)}


def test_gpus_stand_once_and_only_with_text() -> None:
    odd = replace(board(2), index=2)  # type: ignore[arg-type]
    found = checked(Reading(families={}, gpus=(GPU, odd, GPU, Gpu(uuid="", index="4", reason="no")), expected=-3))
    assert [gpu.key for gpu in found.gpus] == [GPU.key, "index 4"]
    assert found.expected == 0


def test_what_the_source_counted_is_kept() -> None:
    counted = replace(of(UTIL, Sample("x", (("", ""),), 1)), dropped={"range": 2, MALFORMED: 1}, errors={"timeout": 3})
    found = checked(counted)
    assert found.dropped == {"range": 2, MALFORMED: 2}
    assert found.errors == {"timeout": 3}
