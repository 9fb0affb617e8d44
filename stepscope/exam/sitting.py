"""One exam, from its start until the next one: what is asked, who sits it, and what their answers are worth."""

from __future__ import annotations

from dataclasses import dataclass, field

from stepscope.exam.marking import Marks, marked, score
from stepscope.exam.paper import Paper
from stepscope.exam.participant import Participant
from stepscope.exam.rate import Bucket


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the scoreboard."""

    participant: Participant
    marks: Marks | None
    """None without an answer."""
    points: float


@dataclass(slots=True)
class Sitting:
    """One exam, from its start until the next one."""

    label: str
    paper: Paper
    duration_seconds: float
    hint_cost: float
    began: float
    """By the monotonic clock."""
    began_at: float
    """Unix seconds."""
    joins: Bucket
    over_after_seconds: float | None = None
    """When it was stopped before its time."""
    revealed: bool = False
    participants: dict[str, Participant] = field(default_factory=dict)
    joined: int = 0
    """How many ever joined, those who were removed included."""

    @property
    def length_seconds(self) -> float:
        """From its start to its end, as things stand."""
        return self.duration_seconds if self.over_after_seconds is None else self.over_after_seconds

    def board(self) -> list[Row]:
        """Everybody with what their answers are worth now: the best first, of equals who answered first."""
        return sorted((self._row(participant) for participant in self.participants.values()), key=_order)

    def _row(self, participant: Participant) -> Row:
        submission = participant.submission
        if submission is None:
            return Row(participant, None, 0.0)
        marks = marked(submission.guess, self.paper.truths)
        points = score(
            marks,
            at_seconds=submission.at_seconds,
            of_seconds=self.duration_seconds,
            hints=participant.hints,
            hint_cost=self.hint_cost,
        )
        return Row(participant, marks, points)


def _order(row: Row) -> tuple[float, float, float]:
    submission = row.participant.submission
    answered = float("inf") if submission is None else submission.at_seconds
    return -row.points, answered, row.participant.joined_at_seconds
