"""Scenarios and their playbacks, as answers. What may be *played* is described by scenario_schema.py."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from stepscope.api.models.base import Count, Moment, Name, NonNegative, Shape


class ScenarioView(Shape):
    """An incident that can be played. What is wrong in it is another path's, behind the token."""

    id: Name
    title: Name
    question: Name
    """What whoever watches is asked."""
    preset: Name
    """The job that it breaks."""
    seed: Count
    duration_seconds: NonNegative
    hints: list[str]


class ScenarioList(Shape):
    """The scenarios that come with the lab, in the order of their ids."""

    scenarios: list[ScenarioView]


class AnswerView(Shape):
    """One thing that is wrong."""

    cause: Name
    """A kind of fault; `healthy` where there is nothing to find."""
    rank: Count | None
    """Null where nobody is to be named."""
    remedy: Name


class AlertsView(Shape):
    """What the rules say of it."""

    alerts: list[str]
    """Fire."""
    may: list[str]
    """May fire."""
    silent: list[str] | None
    """Stay silent; null for all others."""


class ScenarioAnswer(Shape):
    """What whoever is asked should find."""

    id: Name
    answers: list[AnswerView]
    expect: AlertsView


class PlaybackView(Shape):
    """A scenario that is played, or was."""

    id: Name
    scenario: Name
    title: Name
    question: Name
    preset: Name
    seed: Count
    speed: Annotated[float, Field(gt=0)]
    """How many times as fast its timeline passes; the job's clock never changes."""
    run: Name
    """Label of the run that it made."""
    state: Literal["playing", "over", "stopped", "replaced"]
    """`replaced`: another run has taken the place of its own."""
    started_at: Moment
    elapsed_seconds: NonNegative
    """Of its timeline."""
    duration_seconds: NonNegative
    """Of its timeline."""


class PlaybackList(Shape):
    """Playbacks, the oldest first; the last 64 are remembered."""

    playbacks: list[PlaybackView]
