"""What the exporter needs to know of the engine that makes the ticks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from simulator.observation import Tick


class EngineView(Protocol):
    """Every attribute may be read from any thread at any time."""

    @property
    def tick(self) -> Tick | None:
        """The last finished tick; None before the first."""

    @property
    def lag_seconds(self) -> float:
        """How far the run is behind the wall clock."""

    @property
    def skipped_seconds(self) -> float:
        """Seconds of wall clock given up since the engine started."""

    @property
    def failure(self) -> str | None:
        """Why the engine stopped; None while it runs."""

    def fault_event_counts(self) -> Mapping[tuple[str, str], int]:
        """Events so far by (kind, event)."""


def why_down(engine: EngineView, tick: Tick | None, *, now: float, max_age_seconds: float) -> str:
    """Why `tick` must not be shown: `engine_failed`, `no_data` or `stale`; empty when it may be.

    `now` is Unix time. A gap is honest, an old value repeated is not.
    """
    if engine.failure is not None:
        return "engine_failed"
    if tick is None:
        return "no_data"
    return "stale" if now - tick.timestamp > max_age_seconds else ""
