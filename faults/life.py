"""The life of a fault: its states, what moves it from one to the next, and the events that say so.

    put ─► pending ─► ramping ─► active ─► recovering ─► expired   its duration is over, and its ramp down
              │          │          │          │
              └──────────┴──────────┴──────────┴───────► cleared   somebody cleared it (its ramp down comes first)
                                                         aborted   its run ended, from any state

A fault skips what takes no time: without a delay, a ramp or a ramp down it is never pending, ramping or recovering, and
what no tick of the run has seen is no event either. Time only moves it to the right. From an end nothing leads
anywhere: the same name put again is a new fault. Putting another spec under the name of a live fault *replaces* it:
that one starts over, as does the same spec when the fault is recovering or paused.

While it is pending, ramping or active a fault can be changed: its intensity, its duration, and whether it is *paused*.
A pause is no state. It stops the clock of the schedule where it is, and the fault acts on nothing until it is resumed;
cleared meanwhile it ends at once, since there is nothing to ramp down from.

Shapes `sine` and `flap` swing between nothing and the whole intensity; that is no change of state: they are active.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

State = Literal["pending", "ramping", "active", "recovering", "cleared", "expired", "aborted"]
Event = Literal[
    "created", "replaced", "started", "peaked", "changed", "paused", "resumed", "recovering", "cleared", "expired",
    "aborted",
]  # fmt: skip
"""What the log says of a fault."""

ENDED: frozenset[State] = frozenset({"cleared", "expired", "aborted"})
"""States that a fault never leaves."""
CHANGEABLE: tuple[State, ...] = ("pending", "ramping", "active")
"""States in which a fault can be changed, and in which asking for the same again changes nothing."""

NEXT: Mapping[State, frozenset[State]] = MappingProxyType(
    {
        "pending": frozenset({"ramping", "active", "recovering", *ENDED}),
        "ramping": frozenset({"active", "recovering", *ENDED}),
        "active": frozenset({"recovering", *ENDED}),
        "recovering": ENDED,
        "cleared": frozenset(),
        "expired": frozenset(),
        "aborted": frozenset(),
    }
)
"""What may follow each state."""

STATES: Mapping[State, str] = MappingProxyType(
    {
        "pending": "its delay is not over",
        "ramping": "on its way up",
        "active": "as strong as its shape makes it",
        "recovering": "on its way down",
        "cleared": "ended by request",
        "expired": "ended with its duration",
        "aborted": "ended with its run",
    }
)
"""Each state in a few words."""


def events_between(told: State, now: State) -> tuple[Event, ...]:
    """What a fault last seen in state `told` went through, now that it is in another. What no tick saw is left out."""
    assert now != "pending", "nothing comes back to its delay"
    assert now in NEXT[told], f"a fault does not come from {told} to {now}"
    started: tuple[Event, ...] = ("started",) if told == "pending" and now not in ENDED else ()
    if now == "active":
        return (*started, "peaked")
    if now == "ramping":
        return started
    return (*started, now)
