"""How often is scraped and how long is waited: the one block of times, once for a workshop and once for production."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from diagnosis.thresholds import SCRAPE_INTERVAL_SECONDS

Patience = Literal["none", "confirm", "settle"]
"""How long a condition must hold before its alert fires; the seconds are the profile's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """Intervals of one kind of installation, in whole seconds."""

    name: str
    scrape: int
    timeout: int
    """Of a scrape."""
    evaluate: int
    window: int
    """Range over which an alert reads raw series."""
    confirm: int
    """`for` of most alerts: at least two scrapes and an evaluation, so that one odd sample fires nothing."""
    settle: int
    """`for` of the traditional device alerts, as sites that use them have it (5 to 30 minutes)."""
    hold: int
    """`keep_firing_for`: an alert that comes and goes is one alert."""

    def seconds(self, patience: Patience) -> int:
        """`for`, in seconds."""
        return {"none": 0, "confirm": self.confirm, "settle": self.settle}[patience]


WORKSHOP = Profile(
    name="workshop",
    scrape=SCRAPE_INTERVAL_SECONDS,
    timeout=4,
    evaluate=SCRAPE_INTERVAL_SECONDS,
    window=30,
    confirm=15,
    settle=300,
    hold=30,
)
"""Alerts within a minute. This is what the compose stack runs."""

PRODUCTION = Profile(
    name="production",
    scrape=15,
    timeout=10,
    evaluate=15,
    window=120,
    confirm=120,
    settle=300,
    hold=300,
)
"""A third of the samples, and nobody is woken by what lasts a minute."""

PROFILES = (WORKSHOP, PRODUCTION)


def duration(seconds: int) -> str:
    """Seconds as Prometheus writes them: 90s, 5m."""
    return f"{seconds // 60}m" if seconds and seconds % 60 == 0 else f"{seconds}s"
