"""The event stream, driven as the server drives it: through the ASGI callables, with nothing that waits for a clock."""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from starlette.types import Message

from simulator.journal import Journal
from stepscope.api.connection import ABORT
from stepscope.api.problems import ProblemError
from stepscope.api.stream import BATCH_ENTRIES, MOST_VIEWERS, QUEUE_ENTRIES, EventHub, EventStream
from tests.api.conftest import Bench

KEPT = 20 * BATCH_ENTRIES
PATIENCE = 20
"""Seconds after which a hung test fails; none passes by waiting for it."""


class Watcher:
    """A client of the stream that reads everything, until it is told to leave."""

    def __init__(self) -> None:
        self.sent: list[Message] = []
        self.left = anyio.Event()
        self._arrived = anyio.Event()

    async def receive(self) -> Message:
        await self.left.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        self.sent.append(message)
        self._arrived.set()
        self._arrived = anyio.Event()

    @property
    def events(self) -> list[dict[str, Any]]:
        text = b"".join(message.get("body", b"") for message in self.sent).decode()
        blocks = [block for block in text.split("\n\n") if block.startswith("id: ")]
        return [json.loads(block.partition("\ndata: ")[2]) for block in blocks]

    @property
    def missed(self) -> int:
        """How often it was told that entries are gone."""
        return sum(message.get("body", b"").count(b"event: missed\n") for message in self.sent)

    async def until(self, done: Callable[[], bool]) -> None:
        with anyio.fail_after(PATIENCE):
            while not done():
                await self._arrived.wait()


@asynccontextmanager
async def watching(
    bench: Bench, *, after: int, keep_alive_seconds: float = 60.0
) -> AsyncIterator[tuple[EventHub, Watcher, anyio.Event]]:
    """A hub that reads the bench's journal, one watcher, and an event that is set when its stream has ended."""
    hub, watcher, ended = EventHub(bench.engine.journal), Watcher(), anyio.Event()
    hub.start()
    answer = EventStream(hub, after=after, keep_alive_seconds=keep_alive_seconds)

    async def serve() -> None:
        await answer({"type": "http"}, watcher.receive, watcher.send)
        ended.set()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(serve)
        yield hub, watcher, ended
        with anyio.fail_after(PATIENCE):
            hub.close()
            await ended.wait()


def run(body: Callable[[], Awaitable[None]]) -> None:
    async def main() -> None:
        await body()

    anyio.run(main)


def test_a_viewer_gets_what_was_and_what_comes(bench: Bench) -> None:
    async def body() -> None:
        async with watching(bench, after=0) as (_, watcher, _):
            await watcher.until(lambda: len(watcher.events) == 1)
            bench.put_fault("slow")
            await watcher.until(lambda: len(watcher.events) >= 2)
            assert [event["event"] for event in watcher.events][:2] == ["run_started", "created"]
        assert watcher.sent[0]["status"] == 200
        assert (b"content-type", b"text/event-stream; charset=utf-8") in watcher.sent[0]["headers"]
        assert watcher.sent[-1] == {"type": "http.response.body", "body": b"", "more_body": False}
        assert b"id: 1\n" in watcher.sent[2]["body"]

    run(body)


def test_a_viewer_may_begin_later(bench: Bench) -> None:
    async def body() -> None:
        async with watching(bench, after=bench.engine.journal.last_seq) as (_, watcher, _):
            bench.put_fault("slow")
            await watcher.until(lambda: bool(watcher.events))
            assert watcher.events[0]["event"] == "created"

    run(body)


def test_every_entry_comes_once(bench: Bench) -> None:
    async def body() -> None:
        async with watching(bench, after=0) as (hub, watcher, _):
            hub.publish(bench.engine.journal.after(0))
            hub.publish(bench.engine.journal.after(0))
            bench.put_fault("slow")
            await watcher.until(lambda: len(watcher.events) >= 2)
            numbers = [event["seq"] for event in watcher.events]
            assert numbers == sorted(set(numbers))

    run(body)


def test_a_silent_log_sends_signs_of_life(bench: Bench) -> None:
    async def body() -> None:
        async with watching(bench, after=1, keep_alive_seconds=0.001) as (_, watcher, _):
            await watcher.until(lambda: sum(b"still here" in m.get("body", b"") for m in watcher.sent) >= 3)

    run(body)


def test_a_viewer_may_leave(bench: Bench) -> None:
    async def body() -> None:
        async with watching(bench, after=0) as (hub, watcher, ended):
            await watcher.until(lambda: bool(watcher.events))
            assert hub.viewers == 1
            watcher.left.set()
            with anyio.fail_after(PATIENCE):
                await ended.wait()
            assert hub.viewers == 0

    run(body)


def test_a_viewer_that_stops_reading_is_dropped(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    class Stuck(Watcher):
        async def send(self, message: Message) -> None:
            await super().send(message)
            if message["type"] == "http.response.body":
                await anyio.sleep_forever()

    async def body() -> None:
        hub, watcher, ended = EventHub(bench.engine.journal), Stuck(), anyio.Event()
        answer = EventStream(hub, after=0)

        async def serve() -> None:
            scope = {"type": "http", "extensions": {ABORT: watcher.left.set}}
            await answer(scope, watcher.receive, watcher.send)
            ended.set()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(serve)
            await watcher.until(lambda: len(watcher.sent) == 2)
            entry = bench.engine.journal.after(0)[0]
            hub.publish([entry] * QUEUE_ENTRIES)
            assert hub.viewers == 1
            hub.publish([entry])
            with anyio.fail_after(PATIENCE):
                await ended.wait()
        assert watcher.left.is_set(), "its connection was cut off"
        assert hub.viewers == 0

    with caplog.at_level(logging.WARNING):
        run(body)
    assert "stopped reading" in caplog.text


def test_there_are_only_so_many_viewers(bench: Bench) -> None:
    async def body() -> None:
        hub = EventHub(bench.engine.journal)
        viewers = [hub.join() for _ in range(MOST_VIEWERS)]
        with pytest.raises(ProblemError) as caught:
            hub.join()
        assert caught.value.status == 503
        hub.leave(viewers[0])
        viewers[0] = hub.join()
        hub.close()
        with pytest.raises(ProblemError, match="stopping"):
            hub.join()
        for viewer in viewers:
            hub.leave(viewer)

    run(body)


def test_the_route_streams_until_the_lab_stops(bench: Bench) -> None:
    async def body() -> None:
        watcher = Watcher()
        scope = {
            "type": "http",
            "method": "GET",
            "path": "/v1/events/stream",
            "raw_path": b"/v1/events/stream",
            "query_string": b"",
            "root_path": "",
            "scheme": "http",
            "headers": [(b"host", b"localhost"), (b"last-event-id", b"0")],
        }
        asked = False

        async def receive() -> Message:
            nonlocal asked
            if asked:
                return await watcher.receive()
            asked = True
            return {"type": "http.request", "body": b"", "more_body": False}

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(bench.app, scope, receive, watcher.send)
            await watcher.until(lambda: bool(watcher.events))
            bench.app.state.hub.close()
        assert watcher.sent[-1]["more_body"] is False

    run(body)


def full(bench: Bench) -> Bench:
    """The lab with as many entries in its log as are kept, and five that are gone."""
    bench.engine.journal = Journal(now=bench.clock.time, entries=KEPT)
    for _ in range(KEPT + 5):
        bench.engine.journal.add(bench.engine._run, "noise")
    return bench


def test_whoever_leaves_gets_no_more_of_the_past(bench: Bench) -> None:
    async def body() -> None:
        async with watching(full(bench), after=0) as (_, watcher, ended):
            await watcher.until(lambda: bool(watcher.events))
            watcher.left.set()
            with anyio.fail_after(PATIENCE):
                await ended.wait()
            assert len(watcher.events) <= 3 * BATCH_ENTRIES

    run(body)


def test_others_get_their_turn_while_the_past_is_sent(bench: Bench) -> None:
    async def body() -> None:
        async with watching(full(bench), after=0) as (_, watcher, _):
            turns = 0
            with anyio.fail_after(PATIENCE):
                while len(watcher.events) < KEPT:
                    turns += 1
                    await anyio.lowlevel.checkpoint()
            assert turns >= KEPT // BATCH_ENTRIES
            assert [event["seq"] for event in watcher.events] == list(range(6, KEPT + 6))

    run(body)


@pytest.mark.parametrize(("after", "missed"), [(0, 1), (4, 1), (5, 0), (6, 0), (KEPT + 5, 0)])
def test_what_is_gone_is_said_once(bench: Bench, after: int, missed: int) -> None:
    async def body() -> None:
        async with watching(full(bench), after=after) as (_, watcher, _):
            await watcher.until(lambda: len(watcher.events) == min(KEPT, KEPT + 5 - after))
            bench.put_fault("slow")
            await watcher.until(lambda: any(event["event"] == "created" for event in watcher.events))
            assert watcher.missed == missed

    run(body)


def test_a_number_of_a_log_before_this_one_begins_at_the_start_and_says_so(bench: Bench) -> None:
    async def body() -> None:
        async with watching(bench, after=5_000) as (_, watcher, _):
            bench.put_fault("slow")
            await watcher.until(lambda: len(watcher.events) >= 2)
            assert watcher.missed == 1
            assert [event["seq"] for event in watcher.events][:2] == [1, 2]

    run(body)
