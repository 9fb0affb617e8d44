from __future__ import annotations

import gzip
import threading

import pytest

from exporter.page import Page
from exporter.pages import Pages
from stepscope.api.routes import metrics
from tests.api.conftest import Bench, problem

TEXT = "text/plain; version=0.0.4; charset=utf-8"
OPENMETRICS = "application/openmetrics-text; version=1.0.0"


@pytest.mark.parametrize("path", ["/metrics", "/metrics/run", "/metrics/nodes/node-00"])
def test_pages_come_as_text(bench: Bench, path: str) -> None:
    answer = bench.client.get(path)
    assert answer.status_code == 200
    assert answer.headers["content-type"] == TEXT
    assert answer.headers["cache-control"] == "no-store"
    assert answer.text.startswith("# HELP")


def test_openmetrics_when_it_is_preferred(bench: Bench) -> None:
    answer = bench.client.get("/metrics/run", headers={"Accept": f"{OPENMETRICS};q=0.6,text/plain;q=0.3"})
    assert answer.headers["content-type"].startswith("application/openmetrics-text")
    assert answer.text.endswith("# EOF\n")


def test_gzip_when_asked(bench: Bench) -> None:
    packed = bench.client.get("/metrics/run", headers={"Accept-Encoding": "gzip"})
    plain = bench.client.get("/metrics/run", headers={"Accept-Encoding": "identity"})
    assert packed.headers["content-encoding"] == "gzip"
    assert "content-encoding" not in plain.headers
    assert "Accept-Encoding" in plain.headers["vary"]
    assert len(gzip.compress(plain.content)) < len(plain.content)
    assert packed.text == plain.text


def test_who_takes_neither_format_gets_text(bench: Bench) -> None:
    answer = bench.client.get("/metrics", headers={"Accept": "image/png"})
    assert answer.headers["content-type"] == TEXT


def test_a_node_that_is_not_there(bench: Bench) -> None:
    assert "node-00" in problem(bench.client.get("/metrics/nodes/node-01"), 404)["detail"]


def test_before_the_first_second_the_run_page_answers_and_a_node_page_asks_to_come_back(idle: Bench) -> None:
    assert "exporter_source_up" in idle.client.get("/metrics/run").text
    assert idle.client.get("/metrics").status_code == 200
    answer = idle.client.get("/metrics/nodes/node-00")
    problem(answer, 503)
    assert answer.headers["retry-after"] == "1"


def test_the_targets_repeat_the_host_of_the_request(bench: Bench) -> None:
    answer = bench.client.get("/sd/nodes", headers={"Host": "simulator:8000"})
    assert answer.headers["content-type"] == "application/json"
    assert answer.json() == [
        {"targets": ["simulator:8000"], "labels": {"__metrics_path__": "/metrics/run", "instance": "run"}},
        {
            "targets": ["simulator:8000"],
            "labels": {"__metrics_path__": "/metrics/nodes/node-00", "instance": "node-00"},
        },
    ]


def test_each_target_can_be_scraped(bench: Bench) -> None:
    bench.client.put("/v1/job", json={"preset": "anatomy-32gpu"})
    groups = bench.client.get("/sd/nodes").json()
    assert len(groups) == 5
    for group in groups:
        assert bench.client.get(group["labels"]["__metrics_path__"]).status_code == 200


def test_before_the_first_second_only_the_run_is_announced(idle: Bench) -> None:
    assert [group["labels"]["instance"] for group in idle.client.get("/sd/nodes").json()] == ["run"]


def test_pages_are_never_rendered_on_the_event_loop(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    threads: list[str] = []

    def noted(self: Pages, *_: object) -> Page:
        threads.append(threading.current_thread().name)
        return Page(b"", TEXT, None)

    for page in ("all", "run", "node"):
        monkeypatch.setattr(Pages, page, noted)
    for path in ("/metrics", "/metrics/run", "/metrics/nodes/node-00"):
        bench.client.get(path)
    assert len(threads) == 3
    assert all("AnyIO worker" in name for name in threads), threads


def test_a_job_too_large_for_one_page_is_sent_to_its_nodes(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metrics, "MOST_GPUS_ON_A_PAGE", 4)
    assert bench.client.get("/metrics").status_code == 200
    monkeypatch.setattr(metrics, "MOST_GPUS_ON_A_PAGE", 3)
    found = problem(bench.client.get("/metrics"), 409)
    assert found["type"].endswith("page-too-large")
    assert all(path in found["detail"] for path in ("/metrics/run", "/metrics/nodes/{node}", "/sd/nodes"))
    assert bench.client.get("/metrics/nodes/node-00").status_code == 200


def test_a_node_that_does_not_answer_is_down_for_who_scrapes_it_and_the_run_is_not(bench: Bench) -> None:
    bench.client.put("/v1/job", json={"preset": "anatomy-32gpu"})
    fault = {"kind": "node_unreachable", "target": {"mode": "nodes", "value": [2]}, "open_ended": True}
    assert bench.client.put("/v1/faults/gone", json=fault).status_code == 201
    bench.turn(2)
    answer = bench.client.get("/metrics/nodes/node-02")
    assert problem(answer, 503)["type"].endswith("unreachable")
    assert "fault" not in answer.text, "the answer does not give away why"
    for path in ("/metrics/run", "/metrics/nodes/node-01", "/metrics", "/sd/nodes"):
        assert bench.client.get(path).status_code == 200
    bench.client.delete("/v1/faults/gone")
    bench.turn(2)
    assert bench.client.get("/metrics/nodes/node-02").status_code == 200
