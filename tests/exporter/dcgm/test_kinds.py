"""Each case stands for a kind of fault; these are the kinds."""

from __future__ import annotations

import math
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exporter.catalogue import BY_NAME, DCGM_FAMILIES, GPU_LABELS, Family
from exporter.reading import Sample
from exporter.render import escape_label, inner, number
from exporter.sources.dcgm.labels import MAX_LABEL_LENGTH, place
from exporter.sources.dcgm.names import Names
from exporter.sources.dcgm.parser import parse
from exporter.sources.dcgm.values import believe
from tests.exporter.dcgm.reading import exposed, kept, understood, values
from tests.exporter.exposition import official, read

FAMILIES = st.sampled_from(DCGM_FAMILIES)
GAUGES = st.sampled_from([family for family in DCGM_FAMILIES if family.type == "gauge"])
COUNTERS = st.sampled_from([family for family in DCGM_FAMILIES if family.type == "counter"])
BOARD = st.sampled_from([family for family in DCGM_FAMILIES if family.scope == "board"])
INSTANCE = st.sampled_from([family for family in DCGM_FAMILIES if family.scope == "instance"])
IDENTITY = {"gpu": "0", "UUID": "GPU-0", "modelName": "H100", "Hostname": "a"}


def text(name: str, value: object, labels: Mapping[str, str] = IDENTITY, /, **more: str) -> str:
    return f"{name}{{{inner({**labels, **more}.items())}}} {value}\n"


def one(page: str) -> int | float:
    found = understood(page)
    ((sample,),) = found.families.values()
    return sample.value


def believable(family: Family) -> st.SearchStrategy[int | float]:
    low, high = (int(bound) for bound in family.range)
    return st.integers(low, high) if family.number == "int" else st.floats(*family.range)


# 01: sentinels, by storage type.


@given(GAUGES, st.integers(0, 3))
def test_no_gauge_ever_shows_a_sentinel_of_its_storage_type(family: Family, offset: int) -> None:
    bases = [2**63 - 16, 2**47] if family.number == "double" else [2**63 - 16, 2**31 - 16]
    for base in bases:
        for written in (str(base + offset), f"{base + offset}.000000", repr(float(base + offset))):
            if float(written) >= 2**63 - 16 or int(float(written)) == base + offset:
                assert understood(text(family.name, written)).dropped == {"blank": 1}, written


@given(COUNTERS.filter(lambda family: family.unit != "MB/s"), st.integers(0, 2**62))
def test_a_counter_may_pass_every_number_below_the_64_bit_sentinels(family: Family, value: int) -> None:
    for passed in (value, 2**31 - 16, 2**31 - 13, 2**47, 2**47 + 3):
        assert one(text(family.name, passed)) == passed
    assert understood(text(family.name, 2**63 - 14)).dropped == {"blank": 1}


@given(FAMILIES)
def test_zero_is_a_value(family: Family) -> None:
    for written in ("0", "0.000000", "-0.0"):
        assert one(text(family.name, written)) == 0


@pytest.mark.parametrize(("written", "kept_"), [("2147483632", 0), ("2147483640", 1), ("2147483632.5", 1),
                                                ("140737488355328", 1), ("140737488355328.000000", 0),
                                                ("9223372036854775793", 0), ("9.223372036854776e+18", 0)])  # fmt: skip
def test_a_foreign_gauge_shows_its_storage_type_by_its_spelling(written: str, kept_: int) -> None:
    assert kept(understood(text("DCGM_FI_DEV_FAN_SPEED", written))) == kept_


# 02 and 17: values that are none, or not believable.


@given(FAMILIES, st.one_of(st.floats(), st.integers(), st.integers(-(10**390), 10**390)))
def test_what_comes_out_is_finite_in_range_and_of_the_familys_number_type(family: Family, value: float) -> None:
    found = understood(text(family.name, value if isinstance(value, int) else number(value)))
    assert kept(found) + sum(found.dropped.values()) == 1
    for sample in found.families.get(family, ()):
        assert family.range[0] <= sample.value <= family.range[1]
        assert isinstance(sample.value, int if family.number == "int" else float)


@given(FAMILIES, st.data())
def test_believable_values_pass_unchanged(family: Family, data: st.DataObject) -> None:
    value = data.draw(believable(family))
    assert one(text(family.name, number(value))) == value


@given(FAMILIES.filter(lambda family: math.isfinite(family.range[1])), st.floats(1.0, 1.009))
def test_a_little_too_much_is_cut_and_much_too_much_dropped(family: Family, factor: float) -> None:
    greatest = family.range[1]
    assert one(text(family.name, number(greatest * factor))) == greatest
    assert set(understood(text(family.name, number(greatest * 1.02))).dropped) == {"range"}
    assert understood(text(family.name, -1)).dropped == {"range": 1}


@given(st.sampled_from([name for family in DCGM_FAMILIES for name in family.si_aliases] + ["DCGM_FI_OTHER"]))
def test_numbers_that_no_field_can_hold(name: str) -> None:
    for written in ("9" * 390, "-" + "9" * 390, "1e308", "-1e308", "1e400", str(2**63 + 1), str(-(2**63) - 1)):
        assert understood(text(name, written)).dropped == {"range": 1}, written


@given(st.lists(st.tuples(FAMILIES, st.sampled_from(["5", "N/A", "NaN", "+Inf", "", "1_0", "-3", "0x5"])), max_size=20))
def test_bad_lines_never_touch_good_ones(lines: list[tuple[Family, str]]) -> None:
    rows = {(family.name, str(index)): value for index, (family, value) in enumerate(lines)}
    found = understood("".join(text(name, value, gpu=gpu, UUID=gpu) for (name, gpu), value in rows.items()))
    good = {(name, gpu) for (name, gpu), value in rows.items() if value == "5" and BY_NAME[name].range[1] >= 5}
    assert {(family.name, sample.gpu) for family, group in found.families.items() for sample in group} == good
    assert sum(found.dropped.values()) == len(rows) - len(good)


# 03: whatever stands in labels, our page stays legal.


@given(
    st.dictionaries(st.text(max_size=8), st.text(max_size=20), max_size=4), st.sampled_from(["Hostname", "hostname"])
)
def test_no_label_breaks_our_page(labels: dict[str, str], hostname_label: str) -> None:
    written = ",".join(f'{name}="{escape_label(value)}"' for name, value in ({"gpu": "0"} | labels).items())
    found = understood(f"DCGM_FI_DEV_GPU_UTIL{{{written}}} 5\n", hostname_label=hostname_label)
    page = exposed(found.families.items())
    if page:
        read(page.encode())
        official(page.replace("\r", ""), openmetrics=False)


@given(
    st.lists(
        st.tuples(st.sampled_from(["pod", "uuid", "UUID", "x", "hostname", "err_msg", "gpu"]), st.text()), max_size=8
    )
)
def test_labels_come_out_once_not_empty_and_not_too_long(labels: list[tuple[str, str]]) -> None:
    where = place(tuple(dict(labels).items()), hostname="me", hostname_label="Hostname")
    names = [name for name, _ in where.labels]
    assert len(set(names)) == len(names)
    assert "Hostname" in names
    assert all(0 < len(value) <= MAX_LABEL_LENGTH for _, value in where.labels)
    assert where.series <= set(where.labels)
    assert set(where.board) <= set(where.labels)


def test_the_order_of_dcgms_labels_is_kept_and_a_missing_host_put_where_it_belongs() -> None:
    names = ["gpu", "UUID", "pci_bus_id", "device", "modelName", "GPU_I_PROFILE", "GPU_I_ID", "Hostname",
             "DCGM_FI_DRIVER_VERSION", "container", "namespace", "pod"]  # fmt: skip
    for without in ([], ["Hostname"], ["Hostname", "GPU_I_PROFILE", "GPU_I_ID"], ["Hostname", "modelName"]):
        given = tuple((name, name) for name in names if name not in without)
        labels = place(given, hostname="Hostname", hostname_label="Hostname").labels
        assert [name for name, _ in labels] == [name for name in names if name not in without or name == "Hostname"]


@pytest.mark.parametrize("blank", ["", "<<<NULL>>>", "<<<NOT_FOUND>>>", "<<<NOT_SUPPORTED>>>", "<<<NOT_PERM>>>"])
def test_a_blank_label_is_no_label(blank: str) -> None:
    labels = (("gpu", "0"), ("UUID", blank), ("uuid", "GPU-0"), ("pod", blank), ("Hostname", blank))
    where = place(labels, hostname="me", hostname_label="Hostname")
    assert where.labels == (("gpu", "0"), ("UUID", "GPU-0"), ("Hostname", "me"))


@given(st.permutations([("pod_name", "1"), ("pod", "2"), ("exported_pod", "3")]))
def test_of_two_spellings_the_most_trusted_counts(labels: list[tuple[str, str]]) -> None:
    for count, expected in ((3, "3"), (2, max(value for _, value in labels[:2]))):
        where = place(tuple(labels[:count]), hostname="", hostname_label="Hostname")
        assert where.labels == (("pod", expected),)


# 04: boards that are partitioned or shared.


@given(BOARD, st.data())
def test_a_board_reading_counts_once_whatever_repeats_it(family: Family, data: st.DataObject) -> None:
    readings = data.draw(st.lists(believable(family), min_size=1, max_size=4))
    workload = data.draw(st.sampled_from(["pod", "vgpu", "container", "app"]))
    parts = [{"GPU_I_PROFILE": "1g.10gb", "GPU_I_ID": str(n), workload: f"w{n}"} for n in range(len(readings))]
    shares = [{workload: f"w{n}"} for n in range(len(readings))]
    for rows in (parts, shares):
        page = "".join(text(family.name, number(value), **row) for row, value in zip(rows, readings, strict=True))
        found = understood(page)
        (sample,) = found.families[family]
        assert sample.value == max(readings)
        assert sample.instance == ""
        assert "GPU_I_ID" not in dict(sample.labels)
        assert found.dropped == {}


@given(INSTANCE, st.lists(st.integers(1, 9), min_size=1, max_size=5, unique=True))
def test_readings_of_instances_stay_apart(family: Family, instances: list[int]) -> None:
    page = "".join(text(family.name, 1, GPU_I_PROFILE="1g.10gb", GPU_I_ID=str(number)) for number in instances)
    found = understood(page)
    assert [sample.instance for sample in found.families[family]] == [str(number) for number in instances]
    assert list(found.gpus) == ["GPU-0"]


def test_a_workload_that_has_a_board_for_itself_keeps_its_labels() -> None:
    found = understood(text("DCGM_FI_DEV_POWER_USAGE", 5, pod="t-0"))
    assert values(found, "DCGM_FI_DEV_POWER_USAGE", "pod") == {("t-0",): 5.0}


@given(st.permutations([("gpu", "0"), ("UUID", "GPU-0"), ("pod", "a"), ("err_code", "1")]))
def test_the_same_series_twice_is_one(order: list[tuple[str, str]]) -> None:
    for name in ("DCGM_FI_DEV_GPU_UTIL", "DCGM_FI_DEV_FB_USED", "DCGM_FI_DEV_FAN_SPEED"):
        found = understood(text(name, 1, dict(order)) + text(name, 2, {"gpu": "0", "pod": "a", "UUID": "GPU-0"}))
        assert found.dropped == {"duplicate": 1}
        ((sample,),) = found.families.values()
        assert sample.value == 1


# 05 and 07: names, types and units of every generation.


@given(FAMILIES, st.data())
def test_every_name_of_a_family_gives_the_same_reading(family: Family, data: st.DataObject) -> None:
    value = data.draw(believable(family))
    names = [
        family.name,
        *family.aliases,
        *([f"{family.name}_total"] if f"{family.name}_total" not in family.aliases else []),
    ]
    if "GPU_UTIL" in family.name:
        value = int(value)
    assert {one(text(name, number(value))) for name in names} == {value}
    assert understood("".join(text(name, number(value)) for name in names)).dropped == {"duplicate": len(names) - 1}


@given(FAMILIES.filter(lambda family: bool(family.si_aliases)), st.data())
def test_base_units_are_converted(family: Family, data: st.DataObject) -> None:
    si = data.draw(st.floats(0, 0.999 * min(family.range[1], 1e15) / family.scale))
    for name in family.si_aliases:
        written = f"{si:f}"
        assert one(text(name, written)) == round(float(written) * family.scale)


@pytest.mark.parametrize(
    ("name", "written", "reading"),
    [
        ("DCGM_FI_DEV_SM_CLOCK_HERTZ", "1980000000", {"DCGM_FI_DEV_SM_CLOCK": 1980}),
        ("DCGM_FI_DEV_MEMORY_CLOCK_HERTZ", "2619000000", {"DCGM_FI_DEV_MEM_CLOCK": 2619}),
        ("DCGM_FI_DEV_FB_USED_BYTES", "32505856000", {"DCGM_FI_DEV_FB_USED": 31_000}),
        ("DCGM_FI_DEV_FB_USED_BYTES", "2147483632", {"DCGM_FI_DEV_FB_USED": 2_048}),
        ("DCGM_FI_DEV_FB_FREE_BYTES", "9223372036854775792", {}),
        ("DCGM_FI_DEV_GPU_ENERGY_JOULES_TOTAL", "129931554", {"DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION": 129_931_554_000}),
        ("DCGM_FI_DEV_GPU_POWER_THROTTLE_SECONDS_TOTAL", "0.002000", {"DCGM_FI_DEV_POWER_VIOLATION": 2_000_000}),
        ("DCGM_FI_DEV_MEMORY_UTIL_RATIO", "0.370000", {"DCGM_FI_DEV_MEM_COPY_UTIL": 37}),
        ("DCGM_FI_DEV_MEMORY_UTIL_RATIO", "140737488355328.000000", {}),
        ("DCGM_FI_DEV_GPU_UTIL_RATIO", "64", {"DCGM_FI_DEV_GPU_UTIL": 64}),
        ("DCGM_FI_DEV_GPU_UTIL_RATIO", "1", {"DCGM_FI_DEV_GPU_UTIL": 1}),
        ("DCGM_FI_DEV_GPU_UTIL_RATIO", "0.640000", {"DCGM_FI_DEV_GPU_UTIL": 64}),
        ("DCGM_FI_DEV_GPU_UTIL_RATIO", "1.000000", {"DCGM_FI_DEV_GPU_UTIL": 100}),
        ("DCGM_FI_DEV_GPU_UTIL_RATIO", "64.000000", {"DCGM_FI_DEV_GPU_UTIL": 64}),
        ("DCGM_FI_DEV_GPU_UTIL_RATIO", "2147483634", {}),
        ("DCGM_FI_PROF_SM_UTIL_RATIO", "0.5", {"DCGM_FI_PROF_SM_ACTIVE": 0.5}),
        ("DCGM_FI_PROF_SM_UTIL_RATIO", "1", {"DCGM_FI_PROF_SM_ACTIVE": 1.0}),
        ("DCGM_FI_DEV_ROW_REMAP_FAILED", "1", {"DCGM_FI_DEV_ROW_REMAP_FAILURE": 1}),
    ],
)
def test_units_of_dcgm_4_7(name: str, written: str, reading: dict[str, float]) -> None:
    found = understood(text(name, written))
    assert {family.name: samples[0].value for family, samples in found.families.items()} == reading


def test_the_drivers_label_of_dcgm_4_7() -> None:
    found = understood(text("DCGM_FI_DEV_GPU_TEMP", 5, DCGM_FI_SYSTEM_DRIVER_VERSION="580.1"))
    assert values(found, "DCGM_FI_DEV_GPU_TEMP", "DCGM_FI_DRIVER_VERSION") == {("580.1",): 5}


@pytest.mark.parametrize("kind", ["counter", "gauge", "untyped", "unknown", "histogram", "summary", "", None])
def test_foreign_families_keep_name_type_and_labels(kind: str | None) -> None:
    name = "DCGM_EXP_XID_ERRORS_COUNT"
    said = "" if kind is None else f"# HELP {name} Some.\n# TYPE {name} {kind}\n"
    found = understood(said + text(name, 3, IDENTITY | {"window_size_in_ms": "300000", "xid": "42"}))
    ((family, samples),) = found.families.items()
    assert (family.name, family.type) == (name, kind if kind in ("counter", "gauge") else "gauge")
    assert family.help == (name if kind is None else "Some.")
    assert [key for key, _ in samples[0].labels] == [*IDENTITY, "window_size_in_ms", "xid"]
    assert samples[0].gpu == "GPU-0"


def test_foreign_counters_lose_the_ending_that_a_client_library_adds() -> None:
    body = "# TYPE DCGM_FI_DEV_ECC_SBE_VOL_TOTAL_total counter\n" + text("DCGM_FI_DEV_ECC_SBE_VOL_TOTAL_total", 3)
    ((family, _),) = understood(body + text("DCGM_FI_DEV_ECC_SBE_VOL_TOTAL", 3)).families.items()
    assert (family.name, family.type) == ("DCGM_FI_DEV_ECC_SBE_VOL_TOTAL", "counter")
    ((openmetrics, _),) = understood(
        "# TYPE DCGM_FI_DEV_ECC_SBE_VOL_TOTAL counter\n" + text("DCGM_FI_DEV_ECC_SBE_VOL_TOTAL_total", 3)
    ).families.items()
    assert openmetrics == family
    ((old, _),) = understood(text("dcgm_ecc_sbe_volatile_total", 3)).families.items()
    assert old.name == "dcgm_ecc_sbe_volatile_total"


@given(st.integers(2**53, 2**62))
def test_counters_stay_exact_beyond_what_a_float_can_hold(value: int) -> None:
    for name in ("DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", "DCGM_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_TOTAL"):
        found = understood(text(name, value))
        assert f"}} {value}\n" in exposed(found.families.items())


def test_families_come_in_the_catalogues_order() -> None:
    names = [family.name for family in DCGM_FAMILIES]
    body = "".join(text(name, 1) for name in ["DCGM_FI_Z", *reversed(names), "DCGM_FI_A"])
    assert [family.name for family in understood(body).families] == [*names, "DCGM_FI_Z", "DCGM_FI_A"]


def test_a_meaning_is_of_the_name_alone() -> None:
    page = parse("")
    meaning = Names().meaning("DCGM_FI_DEV_GPU_TEMP", page)
    assert meaning is not None
    assert believe(41.4, meaning) == 41
    sample = Sample("GPU-0", tuple((name, "x") for name in GPU_LABELS), 41)
    assert exposed([(meaning.family, (sample,))]).count("\n") == 3
