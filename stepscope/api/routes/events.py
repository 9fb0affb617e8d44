"""`/v1/events`: what happened, as a list and as a stream."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

from fastapi import Header, Query, Request
from starlette.responses import Response

from stepscope.api.lab import CurrentLab
from stepscope.api.models.events import EventList, EventView
from stepscope.api.problems import ErrorItem, unprocessable
from stepscope.api.query import Whole
from stepscope.api.responses import HIDDEN, problems
from stepscope.api.routes.common import v1
from stepscope.api.stream import EventHub, EventStream

router = v1("events")
stream_router = v1("events", media_type="text/event-stream")

After = Annotated[
    Whole | None,
    Query(description="Only events with a larger `seq`; one larger than all there are is of a lab before this one."),
]


@router.get("/events", responses=problems(*HIDDEN))
def list_events(lab: CurrentLab, after: After = None) -> EventList:
    """The log, oldest first: at most the newest 10,000 entries are kept."""
    known, last = after or 0, lab.engine.journal.last_seq
    # A number that is not given out yet is of a log before this one, of which nothing is left.
    of_another_log = known > last
    known = 0 if of_another_log else known
    entries = lab.engine.journal.after(known)
    return EventList(
        events=[EventView.model_validate(asdict(entry)) for entry in entries],
        last_seq=entries[-1].seq if entries else known,
        missed=of_another_log or (bool(entries) and entries[0].seq > known + 1),
    )


@stream_router.get(
    "/events/stream",
    response_class=Response,
    responses=problems(*HIDDEN, 503)
    | {
        200: {
            "description": "Server-sent events; `data` is one entry of the log as JSON, `id` its `seq`. Where entries "
            "are gone, or the lab was started again since, an event `missed` comes before the next one.",
            "content": {"text/event-stream": {"schema": {"type": "string"}}},
        }
    },
)
async def stream_events(
    request: Request,
    lab: CurrentLab,
    after: After = None,
    last_event_id: Annotated[str | None, Header(description="What a browser sends when it connects again.")] = None,
) -> Response:
    """The log as it grows: from `after` (or `Last-Event-ID`) on, else from now on. Who stops reading is dropped."""
    if last_event_id is not None and not (last_event_id.isascii() and last_event_id.isdigit()):
        raise unprocessable([ErrorItem("header", "/last-event-id", "must be the `seq` of an event")])
    if after is None and last_event_id is not None:
        after = int(last_event_id[:18])
    hub: EventHub = request.app.state.hub
    return EventStream(hub, after=lab.engine.journal.last_seq if after is None else after)
