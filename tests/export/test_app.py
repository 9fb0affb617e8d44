"""The exporter's routes."""

from __future__ import annotations

import asyncio
import gzip
import json
from html.parser import HTMLParser

import pytest
from starlette.types import Message, Scope

from exporter.render import Format
from stepscope import __version__
from stepscope.export.settings import ExportSettings
from tests.api.conftest import problem
from tests.export.conftest import Bench
from tests.exporter.exposition import read
from tests.exporter.nodes import failing


def test_metrics_answers_before_the_first_cycle_and_after(bench: Bench) -> None:
    for cycles in range(2):
        answer = bench.client.get("/metrics")
        assert answer.status_code == 200
        assert answer.headers["content-type"] == Format.TEXT.value
        assert len(read(answer.content).of("DCGM_FI_DEV_GPU_UTIL")) == 2 * cycles
        bench.stage.run_until(1)


def test_metrics_in_the_other_format_and_packed(bench: Bench) -> None:
    bench.stage.run_until(0)
    headers = {"Accept": "application/openmetrics-text;version=1.0.0", "Accept-Encoding": "gzip"}
    with bench.client.stream("GET", "/metrics", headers=headers) as answer:
        raw = b"".join(answer.iter_raw())
    assert answer.headers["content-type"] == Format.OPENMETRICS.value
    assert answer.headers["content-encoding"] == "gzip"
    assert gzip.decompress(raw).endswith(b"# EOF\n")


def test_ready_when_a_cycle_has_succeeded_and_until_its_reading_is_too_old(bench: Bench) -> None:
    found = problem(bench.client.get("/readyz"), 503)
    assert found["components"]["nvml"] == "has not finished a cycle yet"
    assert int(bench.client.get("/readyz").headers["retry-after"]) >= 1
    bench.stage.run_until(0)
    ready = bench.client.get("/readyz")
    assert ready.status_code == 200
    assert ready.json() == {"status": "ready", "components": {"nvml": "ok", "job": "ok"}}
    bench.source.act = failing("unknown", "the driver is gone")
    bench.stage.run_until(5)
    assert bench.client.get("/readyz").status_code == 200
    bench.stage.run_until(15)
    found = problem(bench.client.get("/readyz"), 503)
    assert found["components"]["nvml"] == "the driver is gone"
    assert "the driver is gone" in found["detail"]
    assert bench.client.get("/metrics").status_code == 200
    assert bench.client.get("/healthz").json() == {"status": "ok"}


def test_version(bench: Bench) -> None:
    assert bench.client.get("/version").json()["version"] == __version__


def test_discovery_has_one_target_at_the_host_of_the_request(bench: Bench) -> None:
    answer = bench.client.get("/sd/nodes", headers={"Host": "10.0.0.7:9401"})
    assert answer.json() == [{"targets": ["10.0.0.7:9401"], "labels": {"instance": "node-a"}}]


def test_discovery_for_a_request_that_names_no_host() -> None:
    settings = ExportSettings(hostname="node-a", host="0.0.0.0", port=9402)
    app = Bench(settings).client.app
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Message) -> None:
        sent.append(message)

    scope: Scope = {
        "type": "http", "http_version": "1.0", "method": "GET", "scheme": "http", "path": "/sd/nodes",
        "raw_path": b"/sd/nodes", "query_string": b"", "headers": [], "client": ("127.0.0.1", 1), "server": None,
    }  # fmt: skip

    async def ask() -> None:
        await app(scope, receive, send)

    asyncio.run(ask())
    assert sent[0]["status"] == 200
    assert json.loads(sent[1]["body"]) == [{"targets": ["node-a:9402"], "labels": {"instance": "node-a"}}]


class Cells(HTMLParser):
    """Texts of the cells of a table."""

    def __init__(self) -> None:
        super().__init__()
        self.cells: list[str] = []
        self.scripts = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.scripts += tag == "script"
        if tag == "td":
            self.cells.append("")

    def handle_data(self, data: str) -> None:
        if self.cells:
            self.cells[-1] += data


def test_the_page_says_which_sources_there_are_and_how_they_are(bench: Bench) -> None:
    bench.source.act = failing("version_mismatch", "<script>alert(1)</script> & more")
    bench.stage.run_until(0)
    answer = bench.client.get("/")
    page = Cells()
    page.feed(answer.text)
    assert page.cells[:6] == [
        "nvml", "used, since --source names it", "<script>alert(1)</script> & more", "0 of 0", "", "1",
    ]  # fmt: skip
    assert page.cells[6:9] == ["job", "used: training jobs report by themselves", "up at /run/recorder.sock, runs: 0"]
    assert page.cells[10].endswith(" s ago")
    assert page.scripts == 0
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize("path", ["/nothing", "/metrics/", "/metrics/run", "/v1/state", "/docs", "//metrics"])
def test_there_is_nothing_else(bench: Bench, path: str) -> None:
    problem(bench.client.get(f"http://localhost:9401{path}"), 404)


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH"])
def test_nothing_can_be_changed(bench: Bench, method: str) -> None:
    problem(bench.client.request(method, "/metrics"), 405)


def test_head_has_the_headers_of_get(bench: Bench) -> None:
    answer = bench.client.head("/metrics")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == Format.TEXT.value
    assert answer.content == b""


def test_every_json_answer_ends_with_a_newline(bench: Bench) -> None:
    for path in ("/healthz", "/readyz", "/version", "/sd/nodes"):
        text = bench.client.get(path).text
        assert text.endswith("\n")
        assert json.loads(text)
