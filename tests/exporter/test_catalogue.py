"""The catalogue: names that follow the rules, and what a family is called elsewhere."""

from __future__ import annotations

import re

import pytest

from exporter.catalogue import BY_NAME, DCGM_FAMILIES, FAMILIES, Family, find, find_si

OURS = [family for family in FAMILIES if family not in DCGM_FAMILIES]

SUFFIXES = {"seconds": "seconds", "bytes": "bytes", "ratio": "", "info": "info", "batches": "batches", "": ""}
"""How a unit shows at the end of a name, before `_total`."""

NOT_BASE_UNITS = re.compile(
    r"_(percent|pct|milli\w*|micro\w*|nano\w*|ms|us|ns|minutes|hours|k[bB]|m[bB]|g[bB]|[kmg]ib|mhz|ghz|fahrenheit|kwh)(_|$)"
)


def test_names_are_unique_aliases_included() -> None:
    names = [name for f in FAMILIES for name in (f.name, *dict.fromkeys((*f.aliases, *f.si_aliases)))]
    assert len(set(names)) == len(names)


def test_no_sample_name_belongs_to_two_families() -> None:
    names = [name for family in FAMILIES for name in family.sample_names]
    assert len(set(names)) == len(names)
    openmetrics = [family.openmetrics_name for family in FAMILIES]
    assert len(set(openmetrics)) == len(openmetrics)


@pytest.mark.parametrize("family", OURS, ids=lambda family: family.name)
def test_our_names_carry_their_unit(family: Family) -> None:
    assert re.fullmatch(r"[a-z][a-z0-9_]*", family.name)
    assert (family.type == "counter") == family.name.endswith("_total")
    base = family.name.removesuffix("_total")
    assert base.endswith(SUFFIXES[family.unit])
    assert (family.unit == "info") == base.endswith("_info")
    assert not NOT_BASE_UNITS.search(family.name)
    if not family.unit:
        assert not re.search(r"_(seconds|bytes|joules|watts|celsius|hertz)$", base.removesuffix("_per_second"))


@pytest.mark.parametrize("name", ["x_percent", "x_used_mib", "x_ms_total", "sm_clock_mhz", "x_kb"])
def test_the_name_rule_catches_what_promtool_lets_pass(name: str) -> None:
    assert NOT_BASE_UNITS.search(name)


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_every_family_is_described(family: Family) -> None:
    assert family.help.endswith(".")
    assert "\n" not in family.help
    assert len(set(family.labels)) == len(family.labels)
    assert family.range[0] < family.range[1]
    assert all(re.fullmatch(r"[a-zA-Z_][a-zA-Z0-9_]*", label) for label in family.labels)


def test_pages_follow_from_scopes() -> None:
    pages = dict.fromkeys(("board", "instance", "rank", "node"), "node")
    pages |= {"run": "run", "self": "run", "source": "export"}
    for family in FAMILIES:
        assert family.page == pages.get(family.scope, "truth"), family.name
        assert family.name.startswith("lab_") == (family.page == "truth")


def test_dcgm_types_and_spelling() -> None:
    doubles = {family.name for family in DCGM_FAMILIES if family.number == "double"}
    assert doubles == {"DCGM_FI_DEV_POWER_USAGE"} | {
        family.name for family in DCGM_FAMILIES if family.name.startswith("DCGM_FI_PROF") and family.unit == "ratio"
    }
    counters = {family.name for family in DCGM_FAMILIES if family.type == "counter"}
    assert counters == {
        "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION",
        "DCGM_FI_DEV_PCIE_REPLAY_COUNTER",
        "DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL",
        "DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS",
        "DCGM_FI_DEV_CORRECTABLE_REMAPPED_ROWS",
        "DCGM_FI_DEV_POWER_VIOLATION",
        "DCGM_FI_DEV_THERMAL_VIOLATION",
    }
    assert all(family.openmetrics_type == "unknown" for family in DCGM_FAMILIES if family.type == "counter")


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("DCGM_FI_DEV_GPU_UTIL", "DCGM_FI_DEV_GPU_UTIL"),
        ("dcgm_gpu_utilization", "DCGM_FI_DEV_GPU_UTIL"),
        ("DCGM_FI_DEV_GPU_UTIL_RATIO", "DCGM_FI_DEV_GPU_UTIL"),
        ("DCGM_FI_PROF_TENSOR_UTIL_RATIO", "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE"),
        ("DCGM_FI_DEV_BOARD_POWER_WATTS", "DCGM_FI_DEV_POWER_USAGE"),
        ("DCGM_FI_DEV_POWER_VIOLATION_total", "DCGM_FI_DEV_POWER_VIOLATION"),
        ("training_step_seconds_bucket", "training_step_seconds"),
    ],
)
def test_find_knows_other_spellings(written: str, meant: str) -> None:
    assert find(written) is BY_NAME[meant]


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_names_in_si_units_have_a_unit_to_convert(family: Family) -> None:
    assert not family.si_aliases or family.scale != 1.0
    assert all(find_si(name) is family for name in family.si_aliases)
    assert not {family.name, *family.aliases} & set(family.si_aliases) - {"DCGM_FI_DEV_GPU_UTIL_RATIO"}


def test_find_does_not_guess() -> None:
    assert find("node_cpu_seconds_total") is None
    assert find("DCGM_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL") is None
