"""What an answer is worth: right things, sooner rather than later, less what hints cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

CAUSE_POINTS = 50.0
RANK_POINTS = 25.0
REMEDY_POINTS = 25.0
LATE_SHARE = 0.5
"""Of an answer's points that is left at the very end of the time."""
HEALTHY = "healthy"
"""The cause where there is nothing to find."""
NO_REMEDY = "none"
"""The remedy where none of the lab's would help."""


@dataclass(frozen=True, slots=True)
class Guess:
    """What a participant says."""

    cause: str
    rank: int | None
    """None: nobody is to be named."""
    remedy: str


@dataclass(frozen=True, slots=True)
class Truth:
    """One thing that is wrong."""

    cause: str
    ranks: frozenset[int] | None
    """Each of them is a right answer; None where nobody is to be named."""
    remedies: frozenset[str]
    """Each of them is a right answer."""


@dataclass(frozen=True, slots=True)
class Marks:
    """An answer, marked."""

    cause: bool
    rank: bool
    remedy: bool

    @property
    def points(self) -> float:
        """Before time and hints count."""
        return CAUSE_POINTS * self.cause + RANK_POINTS * self.rank + REMEDY_POINTS * self.remedy


def marked(guess: Guess, truths: Sequence[Truth]) -> Marks:
    """The answer beside the truth that it fits best."""
    return max((_beside(guess, truth) for truth in truths), key=lambda marks: marks.points)


def score(marks: Marks, *, at_seconds: float, of_seconds: float, hints: int, hint_cost: float) -> float:
    """Points of an answer given `at_seconds` into an exam of `of_seconds`; never below 0, to a tenth."""
    passed = min(max(at_seconds / of_seconds, 0.0), 1.0)
    return round(max(0.0, marks.points * (1.0 - (1.0 - LATE_SHARE) * passed) - hints * hint_cost), 1)


def _beside(guess: Guess, truth: Truth) -> Marks:
    cause = guess.cause == truth.cause
    # To name nobody costs nothing: it counts only together with the reason, and so does doing nothing.
    rank = cause and guess.rank is None if truth.ranks is None else guess.rank in truth.ranks
    remedy = guess.remedy in truth.remedies
    return Marks(cause, rank, remedy and (cause or guess.remedy != NO_REMEDY))
