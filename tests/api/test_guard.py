from __future__ import annotations

import pytest

from stepscope.api.settings import Settings
from tests.api.conftest import STRAGGLER, TOKEN, Bench, pointers, problem

PUBLIC = Settings(host="0.0.0.0", token=TOKEN, token_is_made=False)
GUARDED = Settings(host="0.0.0.0", token=TOKEN, token_is_made=False, open_writes=True)
BEARER = {"Authorization": f"Bearer {TOKEN}"}
WRITES = [("PUT", "/v1/faults/a"), ("DELETE", "/v1/faults/a"), ("POST", "/v1/reset"), ("PUT", "/v1/job")]


@pytest.mark.parametrize(
    "host", ["localhost", "localhost:1", "127.0.0.1:8000", "[::1]:8000", "[::1]", "SIMULATOR:8000"]
)
def test_known_hosts_are_answered(bench: Bench, host: str) -> None:
    assert bench.client.get("/healthz", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize("host", ["evil.example", "localhost.evil.example", "localhost:8000:1", "::1", "", "10.0.0.1"])
def test_a_foreign_host_is_refused_everywhere(bench: Bench, host: str) -> None:
    for path in ("/", "/v1/state", "/metrics", "/nothing"):
        assert pointers(problem(bench.client.get(path, headers={"Host": host}), 421)) == [("header", "/host")]


def test_hosts_can_be_added() -> None:
    bench = Bench(Settings(allowed_hosts=("lab.example",)))
    assert bench.client.get("/healthz", headers={"Host": "lab.example"}).status_code == 200


@pytest.mark.parametrize(
    ("host", "origin"),
    [
        ("localhost:8000", "http://localhost:8000"),
        ("localhost", "http://localhost"),
        ("localhost", "http://localhost:80"),
        ("localhost", "https://localhost"),
        ("[::1]:8000", "http://[::1]:8000"),
        ("LOCALHOST:8000", "http://localhost:8000"),
    ],
)
def test_the_labs_own_pages_may_write(bench: Bench, host: str, origin: str) -> None:
    answer = bench.client.post("/v1/reset", headers={"Host": host, "Origin": origin})
    assert answer.status_code == 200, answer.text


@pytest.mark.parametrize(
    "origin",
    ["http://evil.example", "http://localhost:3000", "https://localhost:8001", "null", "", "localhost:8000", "file://"],
)
def test_pages_of_another_origin_are_refused(bench: Bench, origin: str) -> None:
    headers = {"Host": "localhost:8000", "Origin": origin}
    assert pointers(problem(bench.client.post("/v1/reset", headers=headers), 403)) == [("header", "/origin")]
    problem(bench.client.get("/v1/state", headers=headers), 403)


@pytest.mark.parametrize(("method", "path"), WRITES)
def test_off_loopback_a_write_needs_the_token(method: str, path: str) -> None:
    bench = Bench(PUBLIC)
    bench.engine.pump()
    body = {"preset": "trap-87"} if path == "/v1/job" else STRAGGLER if method == "PUT" else None
    assert bench.client.put("/v1/faults/a", json=STRAGGLER, headers=BEARER).status_code == 201
    refused = bench.client.request(method, path, json=body)
    problem(refused, 401)
    assert refused.headers["www-authenticate"] == 'Bearer realm="stepscope"'
    assert bench.client.request(method, path, json=body, headers=BEARER).is_success


@pytest.mark.parametrize(
    "given", ["Bearer wrong", "Bearer", f"Basic {TOKEN}", f"Bearer {TOKEN}x", f"Bearer {TOKEN[:-1]}", TOKEN, "Bearer ü"]
)
def test_a_wrong_token_is_refused_and_called_wrong(given: str) -> None:
    bench = Bench(PUBLIC)
    refused = bench.client.post("/v1/reset", headers=[(b"authorization", given.encode("latin-1"))])
    assert "not the lab's" in problem(refused, 401)["detail"]
    assert "invalid_token" in refused.headers["www-authenticate"]


def test_off_loopback_reading_is_open() -> None:
    bench = Bench(PUBLIC)
    bench.engine.pump()
    assert all(bench.client.get(path).status_code == 200 for path in ("/v1/state", "/metrics", "/", "/v1/faults"))


@pytest.mark.parametrize("settings", [Settings(token=TOKEN), GUARDED], ids=["loopback", "open-writes"])
def test_where_something_else_guards_the_port_writes_are_open(settings: Settings) -> None:
    bench = Bench(settings)
    bench.engine.pump()
    assert bench.client.post("/v1/reset").status_code == 200


@pytest.mark.parametrize(
    "settings", [Settings(token=TOKEN), GUARDED, PUBLIC], ids=["loopback", "open-writes", "public"]
)
@pytest.mark.parametrize("path", ["/metrics/truth", "/metrics/%74ruth"])
def test_the_truth_always_needs_the_token(settings: Settings, path: str) -> None:
    bench = Bench(settings)
    bench.engine.pump()
    problem(bench.client.get(path), 401)
    assert bench.client.head(path).status_code == 401
    answer = bench.client.get(path, headers=BEARER)
    assert answer.status_code == 200
    assert "lab_run_info" in answer.text


def test_unknown_methods_and_paths_need_the_token_too() -> None:
    bench = Bench(PUBLIC)
    problem(bench.client.request("BREW", "/v1/faults/a"), 401)
    problem(bench.client.request("BREW", "/v1/faults/a", headers=BEARER), 405)


def test_every_answer_carries_the_safety_headers(bench: Bench) -> None:
    for path in ("/", "/v1/state", "/metrics", "/nothing"):
        headers = bench.client.get(path).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cross-origin-resource-policy"] == "same-origin"
        assert "cache-control" in headers


def test_more_than_one_origin_is_refused(bench: Bench) -> None:
    origins = [(b"origin", b"http://localhost:8000"), (b"origin", b"http://evil.example")]
    for given in (origins, origins[::-1], origins[:1] * 2):
        found = problem(bench.client.post("/v1/reset", headers=[(b"host", b"localhost:8000"), *given]), 403)
        assert pointers(found) == [("header", "/origin")]
