"""Exams: what may be asked for, what everybody sees, and what only some do."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from faults.incident import NO_INCIDENTS
from faults.registry import kinds
from faults.remedy_registry import remedies
from faults.scenario_files import scenarios
from simulator.presets import DEFAULT_PRESET, PRESETS
from stepscope.api.models.base import Count, Moment, Name, NonNegative, Shape
from stepscope.exam.exam import MOST_SECONDS
from stepscope.exam.marking import HEALTHY, NO_REMEDY
from stepscope.exam.names import MAX_NAME

INCIDENT_KINDS = tuple(name for name in kinds() if name not in NO_INCIDENTS)
CAUSES = (*INCIDENT_KINDS, HEALTHY)
REMEDIES = (*remedies(), NO_REMEDY)


def _one_of(names: tuple[str, ...]) -> tuple[AfterValidator, object]:
    def known(name: str) -> str:
        if name not in names:
            raise ValueError(f"must be one of {', '.join(names)}")
        return name

    return AfterValidator(known), Field(json_schema_extra={"enum": list(names)})


def _whole(value: object) -> object:
    # As in JSON Schema, 5.0 is an integer.
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _different(names: list[str]) -> list[str]:
    if len(set(names)) != len(names):
        raise ValueError("must not name a kind twice")
    return names


ScenarioName = Annotated[str, *_one_of(tuple(scenarios()))]
PresetName = Annotated[str, *_one_of(tuple(PRESETS))]
KindName = Annotated[str, *_one_of(INCIDENT_KINDS)]
Cause = Annotated[str, *_one_of(CAUSES)]
RemedyName = Annotated[str, *_one_of(REMEDIES)]
State = Literal["idle", "running", "ended", "revealed"]


class ExamStart(Shape):
    """A hidden incident, and for how long it is looked for."""

    duration_seconds: Annotated[float, Field(ge=60, le=MOST_SECONDS)] = 1_200.0
    hint_cost: Annotated[float, Field(ge=0, le=50)] = 10.0
    """Points that each hint costs whoever takes it."""
    scenario: ScenarioName | None = None
    """One of the lab's scenarios instead of a random incident; the keys below are not used then. What a scenario asks,
    and its hints, are in the open catalogue: who knows that can guess which it is. A drawn incident is nowhere."""
    preset: PresetName = DEFAULT_PRESET
    """The job that the incident hits."""
    kinds: (
        Annotated[
            list[KindName], Field(min_length=1, json_schema_extra={"uniqueItems": True}), AfterValidator(_different)
        ]
        | None
    ) = None
    """Only these kinds; those that show nothing on the job are left out."""
    causes: Annotated[int, Field(ge=0, le=3), BeforeValidator(_whole)] = 1
    """How many things are wrong; 0 for a job that has nothing."""
    onset_within_seconds: Annotated[float, Field(ge=8, le=600)] = 60.0
    """It sets in between a quarter of this and this."""
    decoys: bool = True
    """Whether there may be small or short troubles that are not the answer."""


class ExamExtend(Shape):
    """More time."""

    seconds: Annotated[float, Field(gt=0, le=MOST_SECONDS)]


class JoinWrite(Shape):
    """Somebody who wants to take part."""

    name: Annotated[str, Field(min_length=1, max_length=4 * MAX_NAME)]
    """Shown to everybody: 1 to 40 characters with a letter or digit among them, no control or formatting characters."""


class Joined(Shape):
    """A participant; the secret is said once."""

    id: Name
    name: Name
    secret: Name
    """Send it as the bearer token of everything below `/v1/exam/me`."""


class GuessView(Shape):
    """What somebody thinks is wrong."""

    cause: Cause
    """A kind of fault, or `healthy`."""
    rank: Annotated[int, Field(ge=0, le=2**31 - 1), BeforeValidator(_whole)] | None
    """Who is to blame; null where nobody is to be named."""
    remedy: RemedyName
    """What would put it right, or `none`."""


class MarksView(Shape):
    """What of an answer is right."""

    cause: bool
    rank: bool
    remedy: bool


class BoardRow(Shape):
    """One line of the scoreboard."""

    id: Name
    name: Name
    """Untrusted text."""
    answered: bool
    answered_after_seconds: NonNegative | None
    hints_taken: Count
    points: NonNegative | None
    """Null until the exam is revealed: they would say what is right."""
    marks: MarksView | None
    """Likewise; null without an answer too."""


class TruthView(Shape):
    """One thing that was wrong."""

    cause: Name
    ranks: list[Count] | None
    """Each is a right answer; null where nobody is to be named."""
    remedies: list[str]
    """Each is a right answer."""


class ExamView(Shape):
    """The exam as everybody may see it. A lab that was started again knows of none."""

    state: State
    exam: Name | None
    """Its number; the label of its run too."""
    preset: Name | None
    started_at: Moment | None
    duration_seconds: NonNegative | None
    remaining_seconds: NonNegative | None
    """Until answers are taken no more."""
    hints: Count
    """How many there are to take."""
    hint_cost: NonNegative
    causes: list[str]
    """What a cause may be called."""
    remedies: list[str]
    """What a remedy may be called."""
    board: list[BoardRow]
    """By joining until it is revealed, by points then."""
    truth: list[TruthView] | None
    """Null until it is revealed."""


class ExamAnswer(Shape):
    """What only the facilitator sees while it runs."""

    state: State
    truth: list[TruthView]
    hints: list[str]
    seed: Count
    """Of the run."""
    faults: list[Name]
    """Their names in `/v1/faults`."""
    board: list[BoardRow]
    """With points."""


class MeView(Shape):
    """A participant's own state."""

    id: Name
    name: Name
    answer: GuessView | None
    """The one that counts."""
    answered_after_seconds: NonNegative | None
    answers_left: Count
    hints: list[str]
    """Those that were taken."""
    points: NonNegative | None
    """Null until the exam is revealed."""


class HintView(Shape):
    """A hint."""

    number: Count
    text: Name
