"""What somebody who would rather not look for it may try."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from starlette.types import Message

from stepscope.exam.exam import MOST_PARTICIPANTS, MOST_SUBMISSIONS
from tests.api.conftest import STRAGGLER, TOKEN, Bench, pointers, problem
from tests.api.exam_room import Room

WRONG = {"cause": "healthy", "rank": None, "remedy": "none"}


@pytest.fixture
def room(bench: Bench) -> Room:
    room = Room(bench)
    room.start(decoys=False, kinds=["power_cap"])
    return room


@pytest.mark.parametrize("given", ["", "Bearer", "Bearer x", "Basic eDp4", f"Bearer {TOKEN}", "Bearer ü", "Bearer p1"])
def test_who_has_no_secret_is_nobody(room: Room, given: str) -> None:
    room.join("Ada")
    headers = [(b"authorization", given.encode("latin-1"))]
    for method, path, body in (
        ("GET", "/v1/exam/me", None),
        ("PUT", "/v1/exam/me/answer", WRONG),
        ("PUT", "/v1/exam/me/hints/1", None),
    ):
        found = problem(room.client.request(method, path, json=body, headers=headers), 401)
        assert found["type"].endswith("participant-required")
    assert room.board()["Ada"]["hints_taken"] == 0


def test_a_part_of_a_secret_is_no_secret_and_no_other_ones_either(room: Room) -> None:
    ada, bob = room.join("Ada"), room.join("Bob")
    secret = ada["Authorization"]
    for near in (secret[:-1], secret + "A", secret.swapcase()):
        problem(room.client.get("/v1/exam/me", headers={"Authorization": near}), 401)
    assert room.bench.get("/v1/exam/me", **ada)["name"] == "Ada"
    assert room.bench.get("/v1/exam/me", **bob)["name"] == "Bob"
    assert len({room.join(f"n{number}")["Authorization"] for number in range(9)} | {secret}) == 10


def test_no_secret_is_shown_anywhere(room: Room) -> None:
    secret = room.join("Ada")["Authorization"].removeprefix("Bearer ")
    room.control("stop")
    room.control("reveal")
    for path in ("/v1/exam", "/v1/events", "/v1/state"):
        assert secret not in room.client.get(path).text
    assert secret not in str(room.truth())


@pytest.mark.parametrize(
    "name",
    [
        "",
        "   ",
        "x" * 41,
        "a\u202eb",
        "a\u0000b",
        "a\nb",
        "a\u200bb",
        "\u2028",
        "---",
        "\ue000a",
        "a\tb",
        "\U000e0041b",
    ],
)
def test_a_name_that_nobody_could_read_is_refused(room: Room, name: str) -> None:
    refused = room.client.post("/v1/exam/participants", json={"name": name})
    assert pointers(problem(refused, 422)) == [("body", "/name")]
    assert room.board() == {}


@pytest.mark.parametrize("name", ["<script>alert(1)</script>", "';--1", "{{7*7}}", "李小龙", "عمر", "Zoë 🙂", "=1+1"])
def test_any_other_name_is_text_and_comes_back_as_it_is(room: Room, name: str) -> None:
    room.join(name)
    answer = room.client.get("/v1/exam")
    assert answer.headers["content-type"] == "application/json"
    assert list(room.board()) == [name]


@pytest.mark.parametrize("again", ["ada lovelace", "ADA LOVELACE", "Ada  Lovelace", "Ａda Lovelace", "AdaLovelace"])
def test_nobody_can_take_the_name_of_another(room: Room, again: str) -> None:
    room.join("Ada Lovelace")
    found = problem(room.client.post("/v1/exam/participants", json={"name": again}), 409)
    assert found["type"].endswith("name-taken")


def test_fifty_join_and_answer_at_once(room: Room) -> None:
    right = room.right()
    gate = threading.Barrier(50)

    def sit(number: int) -> int:
        gate.wait()
        me = room.join(f"participant {number}")
        return int(room.answer(me, right).status_code)

    with ThreadPoolExecutor(50) as pool:
        assert set(pool.map(sit, range(50))) == {200}
    assert len(room.board()) == 50
    assert {row["points"] for row in room.truth()["board"]} == {100}


def test_a_flood_of_those_who_join_fills_the_room_and_no_more(room: Room) -> None:
    for number in range(MOST_PARTICIPANTS):
        room.join(f"n{number}")
    assert problem(room.client.post("/v1/exam/participants", json={"name": "one more"}), 409)["type"].endswith("full")
    for row in room.truth()["board"]:
        room.bench.app.state.lab.exam.remove(row["id"])
    slow = room.client.post("/v1/exam/participants", json={"name": "again"})
    assert problem(slow, 429)
    assert int(slow.headers["retry-after"]) >= 1
    room.bench.turn(1)
    assert room.client.post("/v1/exam/participants", json={"name": "again"}).status_code == 201


def test_who_asks_too_fast_waits_and_nobody_else(room: Room) -> None:
    ada, bob = room.join("Ada"), room.join("Bob")
    answers = [room.answer(ada, {**WRONG, "rank": number % 4}) for number in range(12)]
    assert [answer.status_code for answer in answers] == [200] * 8 + [429] * 4
    assert int(answers[-1].headers["retry-after"]) == 2
    assert room.answer(bob, WRONG).status_code == 200
    room.bench.turn(2)
    assert room.answer(ada, WRONG).status_code == 200


def test_trying_every_answer_ends_soon_and_tells_nothing(room: Room) -> None:
    ada = room.join("Ada")
    bodies = []
    for number in range(MOST_SUBMISSIONS):
        room.bench.turn(2)
        bodies.append(room.answer(ada, {**WRONG, "rank": number}).json())
    assert {body["points"] for body in bodies} == {None}
    room.bench.turn(2)
    assert problem(room.answer(ada, room.right()), 409)["type"].endswith("too-many-answers")
    assert room.truth()["board"][0]["points"] == 0


def test_the_same_answer_again_neither_counts_nor_moves_its_time(room: Room) -> None:
    ada = room.join("Ada")
    first = room.answer(ada, WRONG).json()
    room.bench.turn(30)
    assert room.answer(ada, WRONG).json() == first


def test_the_last_answer_counts_with_its_own_time_and_price(room: Room) -> None:
    ada = room.join("Ada")
    room.answer(ada, room.right())
    soon = room.truth()["board"][0]["points"]
    room.bench.turn(600)
    room.answer(ada, WRONG)
    assert room.truth()["board"][0]["points"] == 0
    room.answer(ada, room.right())
    assert room.truth()["board"][0]["points"] == 75 < soon


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"cause": "none"}, "/cause"),
        ({"cause": 1}, "/cause"),
        ({"rank": -1}, "/rank"),
        ({"rank": True}, "/rank"),
        ({"rank": "2"}, "/rank"),
        ({"remedy": "pray"}, "/remedy"),
        ({"points": 100}, "/points"),
        ({"at_seconds": 0}, "/at_seconds"),
    ],
)
def test_an_answer_is_read_strictly(room: Room, change: dict[str, Any], pointer: str) -> None:
    ada = room.join("Ada")
    assert pointers(problem(room.answer(ada, WRONG | change), 422)) == [("body", pointer)]
    assert not room.board()["Ada"]["answered"]


def test_a_clock_that_is_set_moves_no_end(room: Room) -> None:
    ada = room.join("Ada")
    before = room.bench.get("/v1/exam")["remaining_seconds"]
    room.bench.clock.set_wall(-86_400)
    assert room.bench.get("/v1/exam")["remaining_seconds"] == before
    room.bench.clock.set_wall(10 * 86_400)
    assert room.bench.get("/v1/exam")["state"] == "running"
    assert room.answer(ada, WRONG).status_code == 200


def asked_before(bench: Bench, method: str, path: str, body: bytes, between: Any) -> list[Message]:
    """The answer to a request whose body comes only after `between` has happened."""
    sent: list[Message] = []
    headers = [
        (b"host", b"localhost:8000"),
        (b"content-type", b"application/json"),
        (b"content-length", b"%d" % len(body)),
    ]
    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method, "scheme": "http",
        "path": path, "raw_path": path.encode(), "query_string": b"", "root_path": "", "headers": headers,
        "client": ("127.0.0.1", 1), "server": ("localhost", 8000), "state": {},
    }  # fmt: skip

    async def receive() -> Message:
        between()
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: Message) -> None:
        sent.append(message)

    asyncio.run(bench.app(scope, receive, send))
    return sent


def test_a_body_that_comes_after_the_start_is_judged_then(bench: Bench) -> None:
    room = Room(bench)
    begun: list[int] = []

    def start() -> None:
        if not begun:
            begun.append(1)
            room.start()

    sent = asked_before(bench, "PUT", "/v1/faults/mine", b'{"kind":"straggler","open_ended":true}', start)
    assert begun
    assert sent[0]["status"] == 401
    assert "mine" not in {fault["name"] for fault in bench.client.get("/v1/faults", headers=bearer()).json()["faults"]}


def bearer() -> dict[str, str]:
    return {"Authorization": f"Bearer {TOKEN}"}


def test_an_answer_that_was_asked_for_before_the_start_is_not_given_after_it(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    room = Room(bench)
    whole = type(bench.engine).list_faults

    def slow(*args: Any, **options: Any) -> Any:
        monkeypatch.undo()
        room.start()
        return whole(*args, **options)

    bench.put_fault("a", STRAGGLER)
    monkeypatch.setattr(type(bench.engine), "list_faults", slow)
    found = problem(bench.client.get("/v1/faults"), 401)
    assert "cause" not in str(found)


def test_an_event_stream_that_was_open_before_ends_with_the_start(bench: Bench) -> None:
    room = Room(bench)
    sent: list[Message] = []

    async def look() -> None:
        over, asked = asyncio.Event(), False

        async def receive() -> Message:
            nonlocal asked
            if not asked:
                asked = True
                return {"type": "http.request", "body": b"", "more_body": False}
            await over.wait()
            return {"type": "http.disconnect"}

        async def send(message: Message) -> None:
            sent.append(message)
            if message["type"] == "http.response.body" and not message.get("more_body"):
                over.set()

        headers = [(b"host", b"localhost:8000")]
        scope = {
            "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "GET", "scheme": "http",
            "path": "/v1/events/stream", "raw_path": b"/v1/events/stream", "query_string": b"", "root_path": "",
            "headers": headers, "client": ("127.0.0.1", 1), "server": ("localhost", 8000), "state": {},
        }  # fmt: skip
        hub = bench.app.state.hub
        hub.start()
        stream = asyncio.create_task(bench.app(scope, receive, send))
        while not sent or hub.viewers == 0:
            await asyncio.sleep(0)
        await asyncio.to_thread(room.start)
        await asyncio.wait_for(stream, 30)
        hub.close()

    asyncio.run(look())
    text = b"".join(message.get("body", b"") for message in sent).decode()
    assert sent[0]["status"] == 200
    assert text == ": the lab's event log\n\n"
