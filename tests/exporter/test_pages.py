"""The pages as a whole: one rendering per tick, one tick per page, gaps instead of old values, no truth elsewhere."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import prometheus_client
import pytest

from exporter import generation as generations
from exporter.catalogue import EXPORTER_FAMILIES, FAMILIES
from exporter.generation import Generation
from exporter.pages import Pages
from exporter.render import Format
from exporter.sources.readings import Readings, take
from simulator.observation import FaultView, Tick
from tests.exporter.exposition import read
from tests.exporter.ticks import START, StubClock, StubEngine, run_info, tick

OPENMETRICS = "application/openmetrics-text"
INFO = run_info(ranks=16, gpus_per_node=8, nics=1)


class Lab:
    """Pages over an engine and a clock that tests move by hand; counts renderings."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.engine = StubEngine()
        self.clock = StubClock(START)
        self.pages = Pages(self.engine, clock=self.clock, version="1.2.3")
        self.renderings = 0
        render = Generation._render

        def counted(current: Generation, format_: Format, parts: Callable[[], Iterable[str]]) -> bytes:
            self.renderings += 1
            return render(current, format_, parts)

        monkeypatch.setattr(Generation, "_render", counted)

    def advance(self, index: int, *, faults: tuple[FaultView, ...] = ()) -> None:
        self.engine.tick = tick(INFO, index=index, faults=faults)
        self.clock.now = self.engine.tick.timestamp


@pytest.fixture
def lab(monkeypatch: pytest.MonkeyPatch) -> Lab:
    return Lab(monkeypatch)


def exporter_names(families: Iterable[str]) -> set[str]:
    return {name for name in families if name.startswith("exporter_")}


def test_a_page_is_rendered_once_per_tick_and_format(lab: Lab) -> None:
    lab.advance(60)
    bodies = {lab.pages.node("node-00").body for _ in range(5)}
    assert (len(bodies), lab.renderings) == (1, 1)
    lab.pages.node("node-00", OPENMETRICS)
    lab.pages.node("node-01")
    assert lab.renderings == 3
    lab.pages.node("node-01", accept_encoding="gzip")
    assert lab.renderings == 3
    lab.advance(61)
    assert lab.pages.node("node-00").body not in bodies
    assert lab.renderings == 4


def test_time_alone_renders_nothing_while_the_tick_is_good(lab: Lab) -> None:
    lab.advance(60)
    first = lab.pages.run().body
    lab.clock.now += 9.5
    assert lab.pages.run().body is first
    assert lab.renderings == 1


def test_twenty_scrapes_at_once_share_one_rendering(lab: Lab) -> None:
    lab.advance(60)
    gate = threading.Barrier(20)

    def scrape(_: int) -> bytes:
        gate.wait(timeout=10)
        return lab.pages.all(OPENMETRICS, "gzip").body

    with ThreadPoolExecutor(20) as pool:
        bodies = list(pool.map(scrape, range(20)))
    assert lab.renderings == 1
    assert all(body is bodies[0] for body in bodies)


def test_a_tick_that_comes_during_a_rendering_waits_for_the_next(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    lab.advance(60)
    expected = Pages(lab.engine, clock=lab.clock).node("node-01").body

    def interrupted(source: Tick) -> Readings:
        lab.advance(61)
        return take(source)

    with monkeypatch.context() as patch:
        patch.setattr(generations, "take", interrupted)
        assert lab.pages.node("node-01").body == expected
    assert lab.pages.node("node-01").body != expected


def test_readers_never_see_half_a_tick() -> None:
    engine, clock = StubEngine(), StubClock()
    pages = Pages(engine, clock=clock)
    ticks = [tick(INFO, index=index) for index in range(60, 80)]
    engine.tick = ticks[0]
    of_steps = {float(t.counters.steps): t for t in ticks}
    stop = threading.Event()

    def publish() -> None:
        while not stop.is_set():
            for one in ticks:
                engine.tick = one

    publisher = threading.Thread(target=publish)
    publisher.start()
    try:
        for _ in range(20):
            page = read(pages.all().body)
            source = of_steps[page.value("training_steps_total")]
            for gpu in INFO.gpus:
                watts = page.value("DCGM_FI_DEV_POWER_USAGE", UUID=gpu.uuid)
                assert watts == pytest.approx(source.devices.power_watts[gpu.rank], rel=0, abs=1e-6)
                seconds = page.value("training_collective_seconds_total", rank=str(gpu.rank))
                assert seconds == source.counters.collective_seconds[gpu.rank]
    finally:
        stop.set()
        publisher.join()


def test_before_the_first_tick_the_exporter_speaks_for_itself(lab: Lab) -> None:
    lab.clock.now = START
    for page in (lab.pages.run(), lab.pages.all()):
        seen = read(page.body)
        assert exporter_names(seen.types) == {family.name for family in EXPORTER_FAMILIES}
        assert seen.value("exporter_source_up", source="simulated") == 0
        assert seen.value("exporter_build_info", version="1.2.3") == 1
        assert seen.value("exporter_source_errors_total", reason="stale") == 0
        assert not [name for name in seen.types if name.startswith(("DCGM", "training"))]
    assert read(lab.pages.truth().body).types.keys() == {f.name for f in FAMILIES if f.page == "truth"}
    with pytest.raises(KeyError, match="node-00"):
        lab.pages.node("node-00")


def test_an_unknown_node_is_a_key_error(lab: Lab) -> None:
    lab.advance(60)
    for name in ("node-02", "", "node-0", "node 0", "run"):
        with pytest.raises(KeyError):
            lab.pages.node(name)


@pytest.mark.parametrize("reason", ["stale", "engine_failed"])
def test_old_values_vanish_and_the_exporter_stays(lab: Lab, reason: str) -> None:
    lab.advance(60, faults=(FaultView("slow", "straggler", "rank 2", 1.0),))
    healthy = read(lab.pages.all().body)
    assert healthy.value("exporter_source_up", source="simulated") == 1
    if reason == "stale":
        lab.clock.now += 10.5
    else:
        lab.engine.failure = "ZeroDivisionError: division by zero"
    page = read(lab.pages.all().body)
    assert not [name for name in page.types if name.startswith(("DCGM", "training"))]
    assert exporter_names(page.types) == exporter_names(healthy.types)
    assert page.value("exporter_source_up", source="simulated") == 0
    assert page.value("exporter_source_errors_total", reason=reason) == 1
    assert page.value("exporter_gpus_expected", source="simulated") == 16
    assert page.value("exporter_gpus_present", source="simulated") == 0
    assert page.value("exporter_last_success_timestamp_seconds", source="simulated") == START + 61
    assert {dict(s.labels)["reason"] for s in page.of("exporter_gpu_up")} == {reason}
    assert len(read(lab.pages.node("node-01").body).samples) == 8
    assert not read(lab.pages.truth().body).of("lab_fault_active")


def test_a_breakdown_is_counted_once_and_the_next_tick_ends_it(lab: Lab) -> None:
    lab.advance(60)
    lab.pages.run()
    for _ in range(3):
        lab.clock.now += 10.5
        lab.pages.run()
    page = read(lab.pages.run().body)
    assert page.value("exporter_source_errors_total", reason="stale") == 1
    assert page.value("exporter_collect_skipped_total", reason="source_down") == 3
    lab.advance(120)
    page = read(lab.pages.run().body)
    assert page.value("exporter_source_up", source="simulated") == 1
    assert page.value("exporter_source_errors_total", reason="stale") == 1
    assert page.value("training_steps_total") == 600


def test_while_the_source_is_down_a_page_is_kept_for_a_second(lab: Lab) -> None:
    lab.clock.now = START + 0.1
    first = lab.pages.run()
    lab.clock.now = START + 0.9
    assert lab.pages.run().body is first.body
    lab.clock.now = START + 1.1
    assert lab.pages.run().body is not first.body
    assert lab.renderings == 2


def test_the_cost_of_a_tick_is_told_with_the_next(lab: Lab) -> None:
    lab.advance(60)
    size = len(lab.pages.node("node-00").body) + len(lab.pages.run().body)
    lab.advance(61)
    page = read(lab.pages.run().body)
    assert page.value("exporter_exposition_bytes") == size
    assert page.value("exporter_scrape_duration_seconds") > 0
    assert page.value("exporter_collect_seconds", source="simulated") > 0


def test_a_new_run_brings_its_own_labels(lab: Lab) -> None:
    lab.advance(60)
    assert len(lab.pages.node("node-01").body) > 0
    lab.engine.tick = tick(run_info(ranks=4, run="other-2"), index=0)
    lab.clock.now = lab.engine.tick.timestamp
    page = read(lab.pages.all().body)
    assert {dict(s.labels)["run"] for s in page.samples if "run" in dict(s.labels)} == {"other-2"}
    assert page.value("exporter_gpus_expected", source="simulated") == 4
    with pytest.raises(KeyError):
        lab.pages.node("node-01")


def test_label_text_is_prepared_only_for_nodes_that_are_asked_for(lab: Lab) -> None:
    lab.advance(60)
    lab.pages.run()
    lab.pages.node("node-01")
    book = lab.pages._generation.book
    assert book is not None
    assert list(book._heads) == [1]
    heads = book.node(1)
    lab.advance(61)
    lab.pages.node("node-01")
    assert lab.pages._generation.book is book
    assert book.node(1) is heads


def test_engine_lag_and_skipped_seconds(lab: Lab) -> None:
    lab.engine.lag_seconds, lab.engine.skipped_seconds = 1.5, 42.0
    lab.advance(60)
    page = read(lab.pages.run().body)
    assert page.value("simulator_engine_lag_seconds") == 1.5
    assert page.value("simulator_engine_skipped_seconds_total") == 42


@pytest.mark.parametrize("accept", [None, OPENMETRICS])
def test_gzip_is_the_same_page(lab: Lab, accept: str | None) -> None:
    lab.advance(60)
    plain = lab.pages.all(accept)
    packed = lab.pages.all(accept, "gzip, deflate")
    assert gzip.decompress(packed.body) == plain.body
    assert len(packed.body) < len(plain.body) / 4
    assert plain.content_encoding is None
    assert packed.content_encoding == "gzip"
    assert packed.headers == {
        "Content-Type": (Format.OPENMETRICS if accept else Format.TEXT).value,
        "Vary": "Accept, Accept-Encoding",
        "Content-Encoding": "gzip",
    }
    body, content_type, encoding = plain
    assert (body, encoding) == (plain.body, None)
    assert content_type == plain.headers["Content-Type"]


def test_truth_stands_on_its_own_page_only(lab: Lab) -> None:
    lab.engine.events = {("straggler", "active"): 1, ("io_starvation", "expired"): 2}
    lab.advance(60, faults=(FaultView("secret-name", "straggler", "rank 2", 0.5),))
    truth = read(lab.pages.truth().body)
    assert truth.value("lab_fault_active", name="secret-name", kind="straggler", target="rank 2") == 0.5
    assert truth.value("lab_fault_events_total", kind="io_starvation", event="expired") == 2
    assert truth.value("lab_run_info", run="workshop-4gpu-1", preset="workshop-4gpu", seed="7") == 1
    assert set(truth.types) == {family.name for family in FAMILIES if family.page == "truth"}
    for accept in (None, OPENMETRICS):
        for page in (lab.pages.all(accept), lab.pages.run(accept), lab.pages.node("node-00", accept)):
            body = page.body
            assert b"lab_" not in body
            assert b"secret-name" not in body
            assert b"straggler" not in body


def test_faults_change_nothing_else_on_a_page(lab: Lab) -> None:
    lab.advance(60)
    without = lab.pages.node("node-00").body
    assert lab.engine.tick is not None
    lab.engine.tick = replace(lab.engine.tick, faults=(FaultView("slow", "straggler", "rank 2", 1.0),))
    assert lab.pages.node("node-00").body == without


def test_the_global_registry_stays_out_of_it(lab: Lab) -> None:
    counter = prometheus_client.Counter("of_somebody_else", "Not ours.")
    try:
        lab.advance(60)
        assert b"of_somebody_else" not in lab.pages.all().body
        assert b"python_gc" not in lab.pages.all().body
    finally:
        prometheus_client.REGISTRY.unregister(counter)


def test_a_rendering_that_fails_is_tried_again(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    lab.advance(60)
    with monkeypatch.context() as patch:
        patch.setattr(generations, "take", lambda _: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            lab.pages.node("node-00")
    assert len(read(lab.pages.node("node-00").body).samples) > 8 * 48
