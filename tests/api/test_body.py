"""Hostile bodies: each meets a problem, and the engine keeps its tick."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stepscope.api.body import MAX_BODY_BYTES, MAX_DEPTH, parse_json
from stepscope.api.problems import ProblemError
from tests.api.conftest import STRAGGLER, Bench, problem

JSON = {"Content-Type": "application/json"}
MALFORMED = {
    "empty object cut off": b"{",
    "text": b"kind=straggler",
    "two values": b"{} {}",
    "latin-1": '{"kind":"straggler","note":"é"}'.encode("latin-1"),
    "utf-16": json.dumps(STRAGGLER).encode("utf-16"),
    "byte order mark": b"\xef\xbb\xbf{}",
    "lone surrogate": rb'{"kind":"none","note":"\ud800"}',
    "lone surrogate as key": rb'{"\udc00":1}',
    "NaN": b'{"kind":"none","intensity":NaN}',
    "Infinity": b'{"kind":"none","intensity":-Infinity}',
    "overflow": b'{"kind":"none","intensity":1e999}',
    "huge integer": b'{"kind":"none","seed":' + b"9" * 5000 + b"}",
    "65 bits": b'{"kind":"none","seed":18446744073709551616}',
    "duplicate key": b'{"kind":"none","kind":"straggler"}',
    "duplicate key, deep": b'{"params":{"a":1,"a":2}}',
    "deep arrays": b"[" * 30_000 + b"]" * 30_000,
    "deep objects": b'{"a":' * 5_000 + b"1" + b"}" * 5_000,
    "just too deep": b"[" * (MAX_DEPTH + 1) + b"]" * (MAX_DEPTH + 1),
}
WRONG: dict[str, object] = {
    "null": None,
    "array": [],
    "number": 5,
    "string": "straggler",
    "empty": {},
    "number as kind": {"kind": 1},
    "boolean as number": STRAGGLER | {"intensity": True},
    "number as boolean": STRAGGLER | {"open_ended": 0},
    "string as number": STRAGGLER | {"intensity": "1"},
    "unknown key": STRAGGLER | {"colour": "red"},
    "unknown parameter": STRAGGLER | {"params": {"speed": 1}},
    "array as object": STRAGGLER | {"params": []},
    "object as target": STRAGGLER | {"target": {"mode": {"mode": "all"}}},
    "rank that is not there": STRAGGLER | {"target": {"mode": "ranks", "value": [99]}},
    "huge rank": STRAGGLER | {"target": {"mode": "ranks", "value": [2**62]}},
    "too much": STRAGGLER | {"intensity": 1.01},
    "less than nothing": STRAGGLER | {"ramp_up_seconds": -1},
    "no end": {"kind": "straggler"},
}


@pytest.fixture
def ticking(bench: Bench) -> Iterator[Bench]:
    """A lab that must still tick when the test is over."""
    yield bench
    before = bench.engine.tick
    bench.turn(1)
    assert bench.engine.failure is None
    assert bench.engine.tick is not before
    assert bench.get("/v1/faults") == {"faults": []}


@pytest.mark.parametrize("body", MALFORMED.values(), ids=MALFORMED.keys())
@pytest.mark.parametrize("path", ["/v1/faults/a", "/v1/job"])
def test_what_is_not_clean_json_is_malformed(ticking: Bench, path: str, body: bytes) -> None:
    found = problem(ticking.client.put(path, content=body, headers=JSON), 400)
    assert found["type"].endswith("malformed-body")
    assert found["errors"]


@pytest.mark.parametrize("body", WRONG.values(), ids=WRONG.keys())
def test_what_is_not_a_fault_is_unprocessable(ticking: Bench, body: object) -> None:
    found = problem(ticking.put_fault("a", content) if (content := body) is not None else _null(ticking), 422)
    assert all(error["in"] == "body" for error in found["errors"])


def _null(bench: Bench) -> object:
    return bench.client.put("/v1/faults/a", content=b"null", headers=JSON)


@pytest.mark.parametrize(("method", "path"), [("POST", "/v1/faults"), ("PATCH", "/v1/faults/a")])
def test_every_write_of_a_fault_reads_as_strictly(ticking: Bench, method: str, path: str) -> None:
    def send(content: bytes) -> object:
        return ticking.client.request(method, path, content=content, headers=JSON)

    for body in MALFORMED.values():
        problem(send(body), 400)
    for value in (*WRONG.values(), {"intensity": 2}, {"open_ended": False}):
        problem(send(json.dumps(value).encode()), 422) if value != {} else None
    problem(send(b""), 422)


@pytest.mark.parametrize("path", ["/v1/faults/a", "/v1/job"])
def test_a_body_must_be_there(ticking: Bench, path: str) -> None:
    assert "required" in problem(ticking.client.put(path, headers=JSON), 422)["detail"]


def test_too_long_a_body_is_refused_by_its_declared_length(ticking: Bench) -> None:
    answer = ticking.client.put("/v1/faults/a", content=b" " * (MAX_BODY_BYTES + 1), headers=JSON)
    problem(answer, 413)
    assert answer.headers["connection"] == "close"


def test_too_long_a_body_is_refused_when_it_comes_in_chunks(ticking: Bench) -> None:
    def chunks() -> Iterator[bytes]:
        for _ in range(MAX_BODY_BYTES // 1000 + 1):
            yield b" " * 1000

    problem(ticking.client.put("/v1/faults/a", content=chunks(), headers=JSON), 413)


@pytest.mark.parametrize("length", ["99999999999999999999999", str(MAX_BODY_BYTES + 1)])
def test_a_length_is_believed_when_it_is_too_long(ticking: Bench, length: str) -> None:
    answer = ticking.client.put("/v1/faults/a", content=b"{}", headers=JSON | {"Content-Length": length})
    problem(answer, 413)


@pytest.mark.parametrize(
    "kind",
    [
        None,
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data",
        "application/json; charset=latin-1",
        "text/json",
        "json",
        "",
    ],
)
def test_a_body_must_say_that_it_is_json(ticking: Bench, kind: str | None) -> None:
    headers = {} if kind is None else {"Content-Type": kind}
    answer = ticking.client.put("/v1/faults/a", content=json.dumps(STRAGGLER).encode(), headers=headers)
    problem(answer, 415)
    assert answer.headers["accept"] == "application/json"


@pytest.mark.parametrize(
    "kind", ["application/json", "Application/JSON; charset=UTF-8", "application/json;charset=utf8"]
)
def test_spellings_of_json_are_accepted(bench: Bench, kind: str) -> None:
    body = json.dumps(STRAGGLER).encode()
    assert bench.client.put("/v1/faults/a", content=body, headers={"Content-Type": kind}).status_code == 201


def test_a_body_where_none_is_asked_for_must_be_json_all_the_same(ticking: Bench) -> None:
    problem(ticking.client.post("/v1/reset", content=b"x=1", headers={"Content-Type": "text/plain"}), 415)


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "kind", "target"]), inner),
    max_leaves=8,
)


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=60) | _VALUES.map(lambda value: json.dumps(value).encode()))
def test_whatever_comes_it_is_json_or_malformed(body: bytes) -> None:
    try:
        parse_json(body)
    except ProblemError as error:
        found = error.status
    else:
        json.loads(body.decode())
        found = 400
    assert found == 400


@cache
def _fuzzed() -> Bench:
    return Bench()


@settings(max_examples=150, deadline=None)
@given(st.dictionaries(st.sampled_from([*STRAGGLER, "params", "intensity", "seed", "shape", "note"]), _VALUES))
def test_no_value_anywhere_in_a_fault_crashes(changes: dict[str, object]) -> None:
    body = json.dumps(STRAGGLER | changes).encode()
    answer = _fuzzed().client.put("/v1/faults/a", content=body, headers=JSON)
    assert answer.status_code in (200, 201, 400, 422), answer.text
    assert answer.is_success or answer.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize("method", ["GET", "PUT", "POST", "DELETE"])
def test_a_body_is_judged_whatever_the_method(bench: Bench, method: str) -> None:
    for content, headers, status in (
        (b"x", {"Content-Type": "text/plain"}, 415),
        (b"x", {"Content-Type": "application/json"}, 400),
        (b"{}", {"Content-Type": "application/json", "Content-Encoding": "gzip"}, 415),
        (b"x" * 70_000, {"Content-Type": "application/json"}, 413),
    ):
        path = "/v1/faults" if method == "POST" else "/v1/faults/slow"
        problem(bench.client.request(method, path, content=content, headers=headers), status)


def test_a_body_that_is_not_compressed_may_say_so(bench: Bench) -> None:
    headers = {"Content-Encoding": "identity"}
    assert bench.client.put("/v1/faults/slow", json=STRAGGLER, headers=headers).status_code == 201
    refused = bench.client.put("/v1/faults/slow", json=STRAGGLER, headers={"Content-Encoding": "br"})
    assert problem(refused, 415)["type"].endswith("encoded-body")
    assert refused.headers["accept-encoding"] == "identity"
