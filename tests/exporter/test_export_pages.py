"""The page of a real node: always there, never an old value, never a series twice, whatever the sources do."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from exporter.catalogue import BY_NAME, DCGM_FAMILIES, EXPORT_FAMILIES, EXPORTER_FAMILIES, PROCESS_FAMILIES, Family
from exporter.collector import Pace
from exporter.export_pages import REUSE_SECONDS
from exporter.reading import Reading, Sample
from exporter.render import Format
from tests.exporter.exposition import Exposition, read
from tests.exporter.nodes import START, FakeJob, Scripted, Stage, board, failing, reading, sample
from tests.exporter.test_promtool import CAMEL_CASE, NO_TOTAL, TYPE_IN_NAME, lint

OPENMETRICS = "application/openmetrics-text; version=1.0.0"
EVERYTHING = {family.name: 0.5 if family.number == "double" else 40 for family in DCGM_FAMILIES}
GPUS = (board(0), board(1))
Act = Callable[[float], Reading]


def nvml(found: Reading | None = None) -> Scripted:
    return Scripted(lambda _: found or reading(*GPUS, values=EVERYTHING))


def dcgm(found: Reading | None = None) -> Scripted:
    return Scripted(
        lambda _: found or reading(*GPUS, values=EVERYTHING), name="dcgm", error_reasons=("connection",),
        drop_reasons=("blank", "syntax"),
    )  # fmt: skip


def page(stage: Stage, accept: str | None = None) -> Exposition:
    return read(stage.pages.page(accept).body)


@pytest.mark.parametrize("accept", [None, OPENMETRICS])
def test_before_any_cycle_the_exporter_speaks_for_itself(accept: str | None) -> None:
    stage = Stage((nvml(), dcgm()), asked=("nvml", "dcgm"), job=FakeJob())
    seen = page(stage, accept)
    own = {family.openmetrics_name if accept else family.name for family in EXPORTER_FAMILIES + EXPORT_FAMILIES}
    process = {family.openmetrics_name if accept else family.name for family in PROCESS_FAMILIES}
    assert seen.types.keys() >= own | process
    assert not [name for name in seen.types if name.startswith("DCGM")]
    for name in ("nvml", "dcgm"):
        assert seen.value("exporter_source_up", source=name) == 0
        assert seen.value("exporter_source_choice_info", source=name, chosen="true", reason="asked") == 1
        assert seen.value("exporter_gpus_expected", source=name) == 0
    for source in stage.sources:
        for reason in (*source.error_reasons, "hung", "crashed"):
            assert seen.value("exporter_source_errors_total", source=source.name, reason=reason) == 0
        for reason in (*source.drop_reasons, "malformed", "duplicate"):
            assert seen.value("exporter_samples_dropped_total", source=source.name, reason=reason) == 0
        for reason in ("running", "backoff"):
            assert seen.value("exporter_collect_skipped_total", source=source.name, reason=reason) == 0
    assert seen.value("exporter_source_up", source="job") == 1
    assert seen.value("exporter_samples_dropped_total", source="job", reason="syntax") == 2
    assert seen.value("exporter_build_info", version="1.2.3") == 1
    assert seen.value("process_resident_memory_bytes") > 0


@pytest.mark.parametrize("accept", [None, OPENMETRICS])
def test_everything_is_on_the_page_once_under_its_own_type(accept: str | None) -> None:
    stage = Stage((nvml(), dcgm()), auto=True, job=FakeJob())
    stage.run_until(0)
    seen = page(stage, accept)
    for family in DCGM_FAMILIES:
        assert len(seen.of(family.name)) == 2, family.name
        name, kind = (family.openmetrics_name, family.openmetrics_type) if accept else (family.name, family.type)
        assert seen.types[name] == kind
    assert [dict(s.labels)["reason"] for s in seen.of("exporter_gpu_up")] == ["", ""]
    assert seen.value("training_steps_total", run="a") == 7
    assert seen.value("exporter_last_success_timestamp_seconds", source="nvml") == START
    assert seen.value("exporter_source_choice_info", source="nvml") == 1
    power = next(iter(seen.of("DCGM_FI_DEV_POWER_USAGE")))
    assert power.text == "0.500000"


def test_counters_keep_all_their_digits() -> None:
    energy = 2**53 + 1
    stage = Stage((nvml(reading(*GPUS, values={"DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION": energy})),), asked=("nvml",))
    stage.run_until(0)
    assert {s.text for s in page(stage).of("DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION")} == {str(energy)}


def test_promtool_says_of_it_what_it_says_of_dcgm_and_of_nothing_else() -> None:
    stage = Stage((nvml(), dcgm()), auto=True, job=FakeJob())
    stage.run_until(0)
    found = lint(stage.pages.page().body)
    assert {complaint for _, complaint in found} == {CAMEL_CASE, NO_TOTAL, TYPE_IN_NAME}
    assert {name for name, _ in found if not name.startswith("DCGM_")} == set()


def test_what_auto_did_not_find_is_not_down() -> None:
    source = Scripted(failing("library_not_found"))
    far = replace(dcgm(), act=failing("connection"))
    stage = Stage((source, far), auto=True, job=FakeJob())
    stage.run_until(30)
    seen = page(stage)
    assert {dict(s.labels)["source"] for s in seen.of("exporter_source_up")} == {"job"}
    assert {dict(s.labels)["source"] for s in seen.of("exporter_gpus_expected")} == set()
    assert seen.value("exporter_source_choice_info", source="nvml", chosen="false", reason="library_not_found") == 1
    assert seen.value("exporter_source_choice_info", source="dcgm", chosen="false", reason="connection") == 1
    assert {dict(s.labels)["source"] for s in seen.of("exporter_source_errors_total")} == {"job"}
    assert not seen.of("exporter_collect_skipped_total")


def test_what_goes_wrong_counts_from_when_a_source_is_used() -> None:
    source = Scripted(failing("library_not_found"))
    stage = Stage((source,), auto=True)

    def errors(second: float) -> tuple[list[float], list[float]]:
        while stage.clock.now < second:
            stage.run_until(stage.clock.now + 1.0)
            stage.node.look()  # as the server does once a second
        seen = page(stage)
        absent, unknown = (
            [line.value for line in seen.of("exporter_source_errors_total") if ("reason", reason) in line.labels]
            for reason in ("library_not_found", "unknown")
        )
        return absent, unknown

    assert errors(30) == ([], [])
    source.act = failing("unknown")
    assert errors(40) == ([0], [4]), "a driver that is there and fails"
    source.act = lambda _: reading(board(0))
    assert errors(101) == ([0], [4])
    source.act = failing("library_not_found")
    assert errors(102) == ([1], [4]), "what was used and is gone"


def test_a_node_that_trains_nothing_has_a_job_source_that_is_well() -> None:
    stage = Stage((), job=FakeJob())
    stage.clock.now = 50.0
    assert page(stage).value("exporter_last_success_timestamp_seconds", source="job") == START + 50
    assert stage.job is not None
    stage.job.seen.up = False
    stage.clock.now = 60.0
    assert page(stage).value("exporter_last_success_timestamp_seconds", source="job") == START + 50


def test_case_08_the_set_of_gpus_changes() -> None:
    four = [board(n) for n in range(4)]
    energy = "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION"
    now: list[Reading] = [reading(*four, values={"DCGM_FI_DEV_GPU_UTIL": 98, energy: 5_000_000})]
    source = replace(dcgm(), act=lambda _: now[0])
    stage = Stage((source,), asked=("dcgm",), pace=Pace(max_age=10.0))
    stage.run_until(0)
    assert len(page(stage).of("DCGM_FI_DEV_GPU_UTIL")) == 4

    # Board 2 is lost, and its index is now that of board 3.
    there = (board(0), board(1), board(3, index=2))
    now[0] = replace(reading(*there), gpus=(*there, board(2, reason="gpu_lost")), expected=4)
    stage.run_until(1)
    seen = page(stage)
    assert {dict(s.labels)["UUID"] for s in seen.of("DCGM_FI_DEV_GPU_UTIL")} == {gpu.uuid for gpu in there}
    assert {dict(s.labels)["gpu"] for s in seen.of("DCGM_FI_DEV_GPU_UTIL")} == {"0", "1", "2"}
    assert not [s for s in seen.samples if s.name.startswith("DCGM") and board(2).uuid in dict(s.labels).values()]
    assert seen.value("exporter_gpus_expected", source="dcgm") == 4
    assert seen.value("exporter_gpus_present", source="dcgm") == 3
    assert seen.value("exporter_gpu_up", UUID=board(2).uuid, reason="gpu_lost") == 0

    # It comes back, and its counter starts anew: passed through as it is.
    values = replace(reading(*four, values={"DCGM_FI_DEV_GPU_UTIL": 0, energy: 5_010_000}))
    low = tuple(replace(s, value=1200) if s.gpu == board(2).key else s for s in values.families[BY_NAME[energy]])
    now[0] = replace(values, families={**values.families, BY_NAME[energy]: low})
    stage.run_until(2)
    assert page(stage).value(energy, UUID=board(2).uuid) == 1200
    assert page(stage).value("exporter_gpu_up", UUID=board(2).uuid) == 1

    # An empty body is a failed source: down at once, silent when the last reading is too old.
    source.act = failing("connection")
    stage.run_until(3)
    assert page(stage).value("exporter_source_up", source="dcgm") == 0
    assert len(page(stage).of("DCGM_FI_DEV_GPU_UTIL")) == 4
    stage.run_until(12.01)
    seen = page(stage)
    assert not [name for name in seen.types if name.startswith("DCGM")]
    assert {(s.value, dict(s.labels)["reason"]) for s in seen.of("exporter_gpu_up")} == {(0, "connection")}
    assert len(seen.of("exporter_gpu_up")) == 4


def test_case_13_nvml_comes_and_goes() -> None:
    two, swapped = reading(board(0), board(1)), reading(board(1, index=0), board(0, index=1))
    script: list[tuple[int, Act]] = [
        (0, failing("library_not_found")), (5, failing("driver_not_loaded")), (15, failing("version_mismatch")),
        (35, lambda _: Reading(families={}, gpus=(), expected=0)), (45, lambda _: two), (60, failing("unknown")),
        (61, lambda _: two), (75, failing("unknown")), (195, lambda _: swapped),
    ]  # fmt: skip

    def act(deadline: float) -> Reading:
        current: Act = next(act for since, act in reversed(script) if since <= stage.clock.now)
        return current(deadline)

    stage = Stage((Scripted(act),), asked=("nvml",), pace=Pace(max_age=10.0))

    def at(second: float) -> tuple[Exposition, bool]:
        stage.run_until(second)
        return page(stage), stage.node.readiness()[0]

    for second in (0, 4, 14, 30):
        seen, ready = at(second)
        assert seen.value("exporter_source_up", source="nvml") == 0
        assert not ready
    for reason in ("library_not_found", "driver_not_loaded", "version_mismatch"):
        assert seen.value("exporter_source_errors_total", reason=reason) >= 1
    # Pauses begin anew with each new reason: none is longer than 8 s here.
    seen, ready = at(38)
    assert seen.value("exporter_source_up", source="nvml") == 1
    assert seen.value("exporter_gpus_present", source="nvml") == 0
    assert ready
    for second in (46, 61):
        seen, ready = at(second)
        assert seen.value("exporter_source_up", source="nvml") == 1
        assert len(seen.of("DCGM_FI_DEV_GPU_UTIL")) == 2
        assert ready
    seen, ready = at(76)
    assert seen.value("exporter_source_up", source="nvml") == 0
    assert ready, "the last reading may still be shown"
    seen, ready = at(86)
    assert not seen.of("DCGM_FI_DEV_GPU_UTIL")
    assert not ready
    seen, ready = at(195)
    assert seen.value("exporter_source_errors_total", reason="unknown") == 8
    assert seen.value("exporter_collect_skipped_total", source="nvml", reason="backoff") > 60
    seen, ready = at(195 + 60)
    assert ready
    labels = [dict(s.labels) for s in seen.of("DCGM_FI_DEV_GPU_UTIL")]
    assert {(each["UUID"], each["gpu"]) for each in labels} == {(board(1).uuid, "0"), (board(0).uuid, "1")}


def test_zero_gpus_are_a_fact_and_not_a_fault() -> None:
    stage = Stage((nvml(Reading(families={}, gpus=(), expected=0)),), asked=("nvml",))
    stage.run_until(0)
    seen = page(stage)
    assert seen.value("exporter_source_up", source="nvml") == 1
    assert seen.value("exporter_gpus_present", source="nvml") == 0
    assert stage.node.readiness() == (True, {"nvml": "ok"})


def test_case_15_twenty_scrapes_at_once_are_one_rendering() -> None:
    stage = Stage((nvml(),), asked=("nvml",))
    stage.run_until(0)
    together = threading.Barrier(20)

    def scrape(_: int) -> bytes:
        together.wait(20)
        return stage.pages.page().body

    with ThreadPoolExecutor(20) as scrapers:
        bodies = list(scrapers.map(scrape, range(20)))
    assert len({id(body) for body in bodies}) == 1, "the very same bytes"
    assert stage.sources[0].cycles == 1, "no scrape collects"


def test_a_page_answers_while_a_cycle_hangs() -> None:
    entered, release = threading.Event(), threading.Event()

    def hang(_: float) -> Reading:
        entered.set()
        release.wait(20)
        return reading(board(0))

    stage = Stage((Scripted(hang),), asked=("nvml",))
    worker = threading.Thread(target=stage.collectors["nvml"].cycle)
    worker.start()
    assert entered.wait(20)
    stage.clock.now = 60.0
    assert page(stage).value("exporter_source_errors_total", reason="hung") == 1
    assert stage.node.readiness() == (False, {"nvml": "a cycle has been running for more than 60 s"})
    assert worker.is_alive(), "the page did not wait for it"
    release.set()
    worker.join(20)


def test_a_page_is_made_anew_after_half_a_second_or_when_what_may_be_shown_changes() -> None:
    stage = Stage((nvml(),), asked=("nvml",), pace=Pace(max_age=10.0))
    stage.run_until(0)
    first = stage.pages.page().body
    stage.clock.now = REUSE_SECONDS - 0.01
    assert stage.pages.page().body is first
    stage.clock.now = REUSE_SECONDS
    assert stage.pages.page().body is not first
    stage.clock.now = 9.9
    assert page(stage).of("DCGM_FI_DEV_GPU_UTIL")
    stage.clock.now = 10.01
    assert not page(stage).of("DCGM_FI_DEV_GPU_UTIL"), "what is too old is not kept for the rest of the half second"


def test_a_page_says_what_the_one_before_cost() -> None:
    stage = Stage((nvml(),), asked=("nvml",))
    stage.run_until(0)
    first = stage.pages.page().body
    stage.clock.now = 1.0
    seen = page(stage)
    assert seen.value("exporter_exposition_bytes") == len(first)
    assert seen.value("exporter_scrape_duration_seconds") > 0


@pytest.mark.parametrize("accept", [None, OPENMETRICS])
def test_gzip_is_the_same_page(accept: str | None) -> None:
    stage = Stage((nvml(),), asked=("nvml",))
    stage.run_until(0)
    plain, packed = stage.pages.page(accept), stage.pages.page(accept, "gzip")
    assert gzip.decompress(packed.body) == plain.body
    assert packed.headers["Content-Encoding"] == "gzip"
    assert plain.content_type == (Format.OPENMETRICS if accept else Format.TEXT).value


def test_an_odd_family_costs_itself_alone() -> None:
    # None of these passes a collector's check; the page stands even if one of them got there.
    class Odd(str):
        def __format__(self, _: str) -> str:
            raise RuntimeError("odd")

    util = BY_NAME["DCGM_FI_DEV_GPU_UTIL"]
    families: dict[Family, tuple[Sample, ...]] = {
        util: (sample(board(0), 98),),
        replace(util, name=Odd("A_FAMILY")): (sample(board(0), 1),),
        replace(util, name="FAMILY_INF"): (sample(board(0), float("inf")),),
        replace(util, name="FAMILY_NONE"): (replace(sample(board(0), 1), value=None),),  # type: ignore[arg-type]
    }
    stage = Stage((nvml(),), asked=("nvml",))
    stage.run_until(0)
    stage.collectors["nvml"]._last = Reading(families=families, gpus=(board(0),), expected=1)
    seen = page(stage)
    assert [s.value for s in seen.of("DCGM_FI_DEV_GPU_UTIL")] == [98]
    assert not [name for name in seen.types if "FAMILY" in name]


def test_two_families_of_one_name_under_openmetrics_are_one() -> None:
    util = BY_NAME["DCGM_FI_DEV_GPU_UTIL"]
    families = {
        replace(util, name="thing"): (sample(board(0), 1),),
        replace(util, name="thing_total", type="counter"): (sample(board(0), 1),),
    }
    stage = Stage((dcgm(Reading(families=families, gpus=(board(0),), expected=1)),), asked=("dcgm",))
    stage.run_until(0)
    assert {"thing", "thing_total"} <= page(stage).types.keys()
    assert "thing" in page(stage, OPENMETRICS).types


@pytest.mark.parametrize("accept", [None, OPENMETRICS])
def test_a_job_source_that_fails_costs_itself_alone(accept: str | None) -> None:
    stage = Stage((nvml(),), asked=("nvml",), job=FakeJob(failure=RuntimeError("no")))
    stage.run_until(0)
    seen = page(stage, accept)
    assert seen.of("DCGM_FI_DEV_GPU_UTIL")
    assert not [name for name in seen.types if name.startswith("training")]
    assert seen.value("exporter_source_up", source="job") == 0
    assert seen.value("exporter_source_errors_total", source="job", reason="crashed") >= 1


@pytest.mark.parametrize(
    ("runs", "up", "ready"), [(0, True, True), (1, True, True), (0, False, False), (1, False, False)]
)
def test_a_node_without_gpus_is_ready_when_jobs_can_report(runs: int, up: bool, ready: bool) -> None:
    job = FakeJob()
    job.seen.runs, job.seen.up = runs, up
    stage = Stage((Scripted(failing("library_not_found")),), auto=True, job=job)
    assert stage.node.readiness()[0] is bool(runs and up), "nobody knows yet whether there are GPUs"
    stage.run_until(0)
    assert stage.node.readiness()[0] is ready


def test_with_gpus_in_trouble_a_job_that_reports_is_enough_and_a_silent_one_is_not() -> None:
    job = FakeJob()
    stage = Stage((Scripted(failing("version_mismatch")),), auto=True, job=job)
    stage.run_until(0)
    assert not stage.node.readiness()[0]
    job.seen.runs = 1
    assert stage.node.readiness()[0]


def test_who_has_failed_too_often() -> None:
    asked = Stage((Scripted(failing("library_not_found")),), asked=("nvml",))
    asked.run_until(40)
    assert asked.node.look(failures=6) == "nvml"
    assert asked.node.look(failures=7) == ""
    assert asked.node.look() == "", "for ever degraded is the default"
    source = Scripted(failing("version_mismatch"))
    auto = Stage((source,), auto=True)
    auto.run_until(40)
    assert auto.node.look(failures=3) == "", "a new process would not find it either"
    source.act = lambda _: reading(board(0))
    auto.run_until(100)
    source.act = failing("unknown")
    auto.run_until(140)
    assert auto.node.look(failures=3) == "nvml"
