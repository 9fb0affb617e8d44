from __future__ import annotations

import logging

import anyio
import anyio.lowlevel
import pytest
from starlette.types import Message, Receive, Scope, Send

from stepscope.api import views
from stepscope.api.crowd import Crowd
from stepscope.api.problems import MOST_ERRORS
from tests.api.conftest import Bench, pointers, problem

ALLOWED = {
    "/v1/kinds": "GET, HEAD",
    "/v1/kinds/straggler": "GET, HEAD",
    "/v1/faults": "GET, HEAD, POST",
    "/v1/faults/a": "DELETE, GET, HEAD, PATCH, PUT",
    "/v1/reset": "POST",
    "/v1/job": "GET, HEAD, PUT",
    "/v1/presets": "GET, HEAD",
    "/v1/state": "GET, HEAD",
    "/v1/step": "GET, HEAD",
    "/v1/history": "GET, HEAD",
    "/v1/straggler": "GET, HEAD",
    "/v1/events": "GET, HEAD",
    "/v1/events/stream": "GET, HEAD",
    "/metrics": "GET, HEAD",
    "/metrics/run": "GET, HEAD",
    "/metrics/nodes/node-00": "GET, HEAD",
    "/sd/nodes": "GET, HEAD",
    "/healthz": "GET, HEAD",
    "/readyz": "GET, HEAD",
    "/version": "GET, HEAD",
    "/openapi.json": "GET, HEAD",
    "/docs": "GET, HEAD",
    "/": "GET, HEAD",
}


@pytest.mark.parametrize(("path", "allowed"), ALLOWED.items())
@pytest.mark.parametrize("method", ["TRACE", "OPTIONS", "BREW"])
def test_a_method_that_is_not_there_lists_all_that_are(bench: Bench, method: str, path: str, allowed: str) -> None:
    answer = bench.client.request(method, path)
    assert allowed in problem(answer, 405)["detail"]
    assert answer.headers["allow"] == allowed


@pytest.mark.parametrize(
    "path", ["/nothing", "/v1", "/v1/", "/v1/state/", "/v2/state", "/web/../app.js", "/web/nothing.js", "/v1/nothing"]
)
def test_what_is_not_there_is_a_problem(bench: Bench, path: str) -> None:
    problem(bench.client.get(path), 404)


@pytest.mark.parametrize("accept", ["text/html", "application/json;q=0", "application/xml, text/*", "*/*;q=0"])
def test_who_does_not_take_json_gets_none(bench: Bench, accept: str) -> None:
    assert pointers(problem(bench.client.get("/v1/state", headers={"Accept": accept}), 406)) == [("header", "/accept")]


@pytest.mark.parametrize(
    "accept",
    ["", "*/*", "application/json", "text/html, */*;q=0.1", "application/*", "text/html;q=x, application/JSON"],
)
def test_who_takes_json_gets_it(bench: Bench, accept: str) -> None:
    bench.get("/v1/state", Accept=accept)


@pytest.mark.parametrize(
    "query", ["dry=true", "dry_run=yes", "dry_run=1", "dry_run=True", "dry_run=", "dry_run=true&dry_run=true"]
)
def test_query_parameters_are_read_strictly(bench: Bench, query: str) -> None:
    found = problem(bench.client.put(f"/v1/faults/a?{query}", json={"kind": "none", "open_ended": True}), 422)
    assert {place for place, _ in pointers(found)} == {"query"}
    assert bench.get("/v1/faults") == {"faults": []}


def test_an_unknown_query_parameter_names_the_known(bench: Bench) -> None:
    assert "kind, rank, state" in problem(bench.client.get("/v1/faults?colour=red"), 422)["detail"]
    assert "there is none" in problem(bench.client.post("/v1/reset?dry_run=true"), 422)["detail"]


def test_a_pointer_is_escaped(bench: Bench) -> None:
    body = {"kind": "none", "open_ended": True, "a/b~c": 1}
    assert pointers(problem(bench.put_fault("a", body), 422)) == [("body", "/a~1b~0c")]


def test_a_crash_is_logged_and_not_shown(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("a secret of the inside")

    monkeypatch.setattr(views, "learning", broken)
    with caplog.at_level(logging.ERROR):
        answer = bench.client.get("/v1/state")
    assert "secret" not in answer.text
    assert "Traceback" not in answer.text
    problem(answer, 500)
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert [record.exc_info is not None for record in caplog.records if record.name == "stepscope.api"] == [True]


def test_head_of_the_event_stream_ends(bench: Bench) -> None:
    answer = bench.client.head("/v1/events/stream")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert bench.app.state.hub.viewers == 0


def test_head_is_get_without_the_body(bench: Bench) -> None:
    for path in ("/v1/state", "/metrics", "/", "/v1/faults"):
        answer = bench.client.head(path)
        assert answer.status_code == 200
        assert answer.content == b""
        assert int(answer.headers["content-length"]) > 0


def test_only_so_many_problems_are_named(bench: Bench) -> None:
    query = "&".join(f"q{index}=1" for index in range(1_000))
    found = problem(bench.client.get(f"/v1/state?{query}"), 422)
    assert len(found["errors"]) == MOST_ERRORS
    assert "999 more" in found["detail"]


@pytest.mark.parametrize("path", ["/v1/state", "/v1/faults", "/openapi.json", "/sd/nodes", "/nothing", "/v1/state?é=1"])
def test_json_ends_with_a_newline_and_says_letters_as_they_are(bench: Bench, path: str) -> None:
    bench.put_fault("slow", {"kind": "none", "open_ended": True, "note": "größer"})
    answer = bench.client.get(path)
    assert answer.content.endswith(b"}\n") or answer.content.endswith(b"]\n")
    assert int(answer.headers["content-length"]) == len(answer.content)
    assert "\\u" not in answer.text
    assert ("größer" in answer.text) == (path == "/v1/faults")
    assert ("/é" in answer.text) == ("é" in path)
    assert bench.client.head(path).headers["content-length"] == answer.headers["content-length"]


def test_nothing_stays_nothing(bench: Bench) -> None:
    bench.put_fault("slow")
    assert bench.client.delete("/v1/faults/slow").content == b""


def test_a_lab_with_too_much_to_do_says_so(bench: Bench) -> None:
    async def never(_: Scope, __: Receive, ___: Send) -> None:
        await anyio.sleep_forever()

    async def main() -> None:
        sent: list[Message] = []

        async def send(message: Message) -> None:
            sent.append(message)

        async def receive() -> Message:
            return {"type": "http.disconnect"}

        crowd, scope = Crowd(never, most=2), {"type": "http", "path": "/v1/state"}
        async with anyio.create_task_group() as tasks:
            for _ in range(2):
                tasks.start_soon(crowd, scope, receive, send)
            await anyio.lowlevel.checkpoint()
            await crowd(scope, receive, send)
            assert sent[0]["status"] == 503
            assert (b"retry-after", b"1") in sent[0]["headers"]
            tasks.start_soon(crowd, scope | {"path": "/healthz"}, receive, send)
            await anyio.lowlevel.checkpoint()
            tasks.cancel_scope.cancel()
        assert len(sent) == 2
        assert crowd._present == 0

    anyio.run(main)
