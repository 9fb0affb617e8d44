"""The source under its collector, up to the page that Prometheus gets, while the exporter behind it does anything."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from exporter.choice import Chooser
from exporter.collector import Collector
from exporter.export_pages import ExportPages
from exporter.node import Node
from exporter.render import Format
from exporter.sources.dcgm.source import DcgmSource
from tests.exporter.dcgm.cases import page as case
from tests.exporter.dcgm.cases import pages
from tests.exporter.dcgm.fake_exporter import Answer, FakeExporter, page, raw
from tests.exporter.dcgm.reading import UUID
from tests.exporter.exposition import Exposition, official, read
from tests.exporter.nodes import Clock
from tests.exporter.test_promtool import lint

UTIL = "DCGM_FI_DEV_GPU_UTIL"
MAX_AGE_SECONDS = 10.0


class Exporting:
    """A node with a dcgm source alone, whose cycles a test runs by hand."""

    def __init__(self, url: str) -> None:
        self.clock = Clock()
        source = DcgmSource(url, hostname="lab-node-a", clock=self.clock)
        self.collector = Collector(source, clock=self.clock, wall=self.clock.wall)
        self.pages = ExportPages(Node([self.collector], Chooser(["dcgm"], auto=False)), clock=self.clock)

    def after(self, seconds: float = 1.0, *, cycle: bool = True) -> Exposition:
        self.clock.now += seconds
        if cycle:
            self.collector.cycle()
        return read(self.pages.page().body)


@pytest.fixture
def fake() -> Iterator[FakeExporter]:
    with FakeExporter(page("")) as server:
        yield server


def up(shown: Exposition) -> float:
    return shown.value("exporter_source_up", source="dcgm")


def gpus(shown: Exposition) -> dict[str, str]:
    """Reason by UUID: empty for those that are up."""
    found = {dict(s.labels)["UUID"]: dict(s.labels)["reason"] for s in shown.of("exporter_gpu_up")}
    assert all((s.value == 1.0) == (dict(s.labels)["reason"] == "") for s in shown.of("exporter_gpu_up"))
    return found


@pytest.mark.parametrize("format_", Format)
@pytest.mark.parametrize("text", pages())
def test_every_case_makes_a_page_that_prometheus_takes(fake: FakeExporter, text: str, format_: Format) -> None:
    fake.answer = page(text)
    exporting = Exporting(fake.url)
    shown = exporting.after()
    assert up(shown) == (1.0 if text else 0.0)
    body = exporting.pages.page(accept=format_.value).body
    official(body.decode(), openmetrics=format_ is Format.OPENMETRICS)
    if format_ is Format.TEXT:
        assert all(name.startswith("DCGM_") for name, _ in lint(body))


def test_the_set_of_gpus_changes_on_the_page(fake: FakeExporter) -> None:
    exporting = Exporting(fake.url)
    seen: list[tuple[float, float, dict[str, str]]] = []
    for name in ("t0", "t1_gpu2_lost", "t2_gpu2_back_after_reset"):
        fake.answer = page(case("08", name))
        shown = exporting.after()
        expected, present = (shown.value(f"exporter_gpus_{word}", source="dcgm") for word in ("expected", "present"))
        seen.append((expected, present, gpus(shown)))
        assert {dict(s.labels)["UUID"] for s in shown.of(UTIL)} == {
            u for u, reason in seen[-1][2].items() if not reason
        }
    all_up = dict.fromkeys(map(UUID, range(4)), "")
    assert seen == [(4, 4, all_up), (4, 3, all_up | {UUID(2): "gpu_lost"}), (4, 4, all_up)]

    fake.answer = page(case("08", "t3_empty"))
    shown = exporting.after()
    assert up(shown) == 0.0
    assert shown.value("exporter_source_errors_total", source="dcgm", reason="empty") == 1.0
    gone = exporting.after(MAX_AGE_SECONDS)
    assert not [s for s in gone.samples if s.name.startswith("DCGM_")]
    assert not any(reason == "" for reason in gpus(gone).values())


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (page(case("08", "t0"), status=500), "status"),
        (page("", status=302, Location="/"), "redirect"),
        (page("<html>", Content_Type="text/html"), "content_type"),
        (page(case("08", "t0"), Content_Length="99999"), "truncated"),
        (raw(b""), "protocol"),
    ],
)
def test_a_lying_exporter_costs_its_own_series_and_comes_back(fake: FakeExporter, answer: Answer, reason: str) -> None:
    exporting = Exporting(fake.url)
    fake.answer = page(case("08", "t0"))
    exporting.after()
    fake.answer = answer
    shown = exporting.after()
    assert up(shown) == 0.0
    assert shown.value("exporter_source_errors_total", source="dcgm", reason=reason) == 1.0
    assert not exporting.after(MAX_AGE_SECONDS).of(UTIL)
    fake.answer = page(case("08", "t2_gpu2_back_after_reset"))
    back = exporting.after()
    assert (up(back), len(back.of(UTIL))) == (1.0, 4)


def test_an_exporter_that_is_killed_and_started_again() -> None:
    with FakeExporter(page(case("08", "t0"))) as fake:
        exporting = Exporting(fake.url)
        assert len(exporting.after().of(UTIL)) == 4
    shown = exporting.after()
    assert (up(shown), len(shown.of(UTIL))) == (0.0, 4)
    assert shown.value("exporter_source_errors_total", source="dcgm", reason="connect") == 1.0
    assert not exporting.after(MAX_AGE_SECONDS).of(UTIL)
    with FakeExporter(page(case("08", "t1_gpu2_lost")), port=fake.port):
        shown = exporting.after()
    assert (up(shown), len(shown.of(UTIL))) == (1.0, 3)
    assert gpus(shown)[UUID(2)] == "gpu_lost"


def test_what_was_dropped_is_counted_on_the_page(fake: FakeExporter) -> None:
    exporting = Exporting(fake.url)
    for name, cycles in (("01", 1), ("02", 2), ("03", 1), ("17", 1)):
        fake.answer = page(case(name))
        for _ in range(cycles):
            shown = exporting.after()
    counts = {dict(s.labels)["reason"]: s.value for s in shown.of("exporter_samples_dropped_total")}
    assert {reason: count for reason, count in counts.items() if count} == {
        "blank": 15, "unparsable": 14, "nan": 4, "range": 5, "syntax": 3,
    }  # fmt: skip
    assert set(DcgmSource.drop_reasons) <= set(counts)
