"""The event log as server-sent events: one reader of the journal, many viewers, none of which can hold it up."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import anyio
import anyio.lowlevel
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from simulator.journal import Entry, Journal
from stepscope.api.connection import ABORT
from stepscope.api.lab import not_ready

MOST_VIEWERS = 32
QUEUE_ENTRIES = 256
"""Entries that wait for one viewer at most; one that falls further behind is dropped."""
BATCH_ENTRIES = 64
"""Old entries sent in one go; others get their turn between two of them."""
KEEP_ALIVE_SECONDS = 15.0

_log = logging.getLogger("stepscope.api")


@dataclass(eq=False, slots=True)
class Viewer:
    """One connection: entries come out of `entries` until the hub closes; `gone` is cancelled when it lags too far."""

    put: MemoryObjectSendStream[Entry]
    entries: MemoryObjectReceiveStream[Entry]
    gone: anyio.CancelScope


class EventHub:
    """Hands new journal entries to the viewers. Its methods belong to the event loop; a thread of its own reads."""

    def __init__(self, journal: Journal) -> None:
        self.journal = journal
        self._viewers: set[Viewer] = set()
        self._closed = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None

    @property
    def viewers(self) -> int:
        """How many there are now."""
        return len(self._viewers)

    def start(self) -> None:
        """Begin to read, on behalf of the running event loop."""
        self._loop = asyncio.get_running_loop()
        threading.Thread(target=self._read, args=(self.journal.last_seq,), name="events", daemon=True).start()

    def close(self) -> None:
        """End every stream in good order; may be called twice."""
        self._closed.set()
        for viewer in self._viewers:
            viewer.put.close()
        self._viewers.clear()

    def join(self) -> Viewer:
        """A new viewer, which gets every entry from now on. Raises `ProblemError` (503) when there are too many."""
        if self._closed.is_set() or len(self._viewers) >= MOST_VIEWERS:
            why = "the lab is stopping" if self._closed.is_set() else f"{MOST_VIEWERS} viewers watch already"
            raise not_ready(f"events: {why}")
        put, entries = anyio.create_memory_object_stream[Entry](QUEUE_ENTRIES)
        viewer = Viewer(put, entries, anyio.CancelScope())
        self._viewers.add(viewer)
        return viewer

    def leave(self, viewer: Viewer) -> None:
        """The viewer has gone."""
        self._viewers.discard(viewer)
        viewer.put.close()
        viewer.entries.close()

    def publish(self, entries: Sequence[Entry]) -> None:
        """Queue entries for everybody, and drop whoever has no room."""
        for viewer in list(self._viewers):
            try:
                for entry in entries:
                    viewer.put.send_nowait(entry)
            except anyio.WouldBlock:
                _log.warning("a viewer of the event stream stopped reading and was dropped")
                self._viewers.discard(viewer)
                viewer.gone.cancel()

    def _read(self, seq: int) -> None:
        assert self._loop is not None
        while not (self._closed.is_set() or self.journal.closed):
            entries = self.journal.wait_after(seq, timeout_seconds=0.5)
            if not entries:
                continue
            seq = entries[-1].seq
            try:
                self._loop.call_soon_threadsafe(self.publish, entries)
            except RuntimeError:  # The loop is closed: nobody is left to tell.
                return


class EventStream(Response):
    """The answer to one viewer, which lasts until the viewer leaves, lags too far behind, or the lab stops."""

    media_type = "text/event-stream"

    def __init__(self, hub: EventHub, *, after: int, keep_alive_seconds: float = KEEP_ALIVE_SECONDS) -> None:
        super().__init__(headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"})
        del self.headers["content-length"]
        self._hub = hub
        self._after = after
        self._keep_alive = keep_alive_seconds
        self._viewer = hub.join()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send what was missed, then what comes."""
        viewer = self._viewer
        abort = scope.get("extensions", {}).get(ABORT)
        try:
            with viewer.gone:
                await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(_watch, receive, tasks.cancel_scope)
                    await self._feed(viewer, send)
                    tasks.cancel_scope.cancel()
            if viewer.gone.cancel_called and abort is not None:
                # What it has not read would keep the connection open for as long as it likes.
                abort()
                await _until_gone(receive)
        finally:
            self._hub.leave(viewer)

    async def _feed(self, viewer: Viewer, send: Send) -> None:
        await _write(send, ": the lab's event log\n\n")
        seq = await self._replay(send)
        while True:
            try:
                with anyio.fail_after(self._keep_alive):
                    entry = await viewer.entries.receive()
            except TimeoutError:
                await _write(send, ": still here\n\n")
            except anyio.EndOfStream:
                break
            else:
                if entry.seq > seq:
                    await _write(send, _texts([entry], after=seq))
                    seq = entry.seq
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _replay(self, send: Send) -> int:
        """Send what is in the log already, and return the number of its last entry."""
        journal, seq = self._hub.journal, self._after
        known: int | None = seq
        if seq > journal.last_seq:
            # The number is of a log before this one: nothing of this one is known there.
            seq, known = 0, None
        while entries := journal.after(seq, most=BATCH_ENTRIES):
            await _write(send, _texts(entries, after=known))
            seq = known = entries[-1].seq
            # Writing to a client that has room, or has gone, does not wait for anything.
            await anyio.lowlevel.checkpoint()
        return seq


async def _watch(receive: Receive, scope: anyio.CancelScope) -> None:
    await _until_gone(receive)
    scope.cancel()


async def _until_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _write(send: Send, text: str) -> None:
    await send({"type": "http.response.body", "body": text.encode(), "more_body": True})


def _texts(entries: Sequence[Entry], *, after: int | None) -> str:
    """The entries as the viewer gets them that has seen those up to `after`; None where the log is not the same."""
    missed = after is None or entries[0].seq > after + 1
    mark = f"event: missed\ndata: {json.dumps({'missed': True, 'next_seq': entries[0].seq})}\n\n" if missed else ""
    return mark + "".join(
        f"id: {entry.seq}\ndata: {json.dumps(asdict(entry), ensure_ascii=False)}\n\n" for entry in entries
    )
