"""What happened."""

from __future__ import annotations

from stepscope.api.models.base import Count, Moment, Name, NonNegative, Shape


class EventView(Shape):
    """One entry of the log."""

    seq: Count
    """Counts up by one; `after` takes it."""
    time: Moment
    run: Name
    seconds: NonNegative
    """Simulated seconds since the run began."""
    step: Count
    """First step that can feel it."""
    event: Name
    kind: str | None
    """Kind of the fault; null when the event is not a fault's."""
    name: str | None
    """Name of the fault, likewise."""
    detail: str


class EventList(Shape):
    """Events in the order in which they happened."""

    events: list[EventView]
    last_seq: Count
    """Ask with this as `after` for what comes next."""
    missed: bool
    """Whether events after the one asked for are gone from the log, or the log is another one by now."""
