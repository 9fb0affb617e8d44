"""Who sits an exam."""

from __future__ import annotations

import hmac
import secrets
from dataclasses import dataclass, field

from stepscope.exam.marking import Guess
from stepscope.exam.rate import Bucket

SECRET_BYTES = 24
"""Of randomness in a participant's secret: there is nothing to guess."""
BURST, PER_SECOND = 8, 0.5
"""Writes of one participant."""


@dataclass(frozen=True, slots=True)
class Submission:
    """An answer, and when it came."""

    guess: Guess
    at_seconds: float
    """After the exam began."""


@dataclass(slots=True)
class Participant:
    """One of those who look for it. Only the exam, under its lock, changes it."""

    id: str
    name: str
    joined_at_seconds: float
    bucket: Bucket
    secret: str = field(default_factory=lambda: secrets.token_urlsafe(SECRET_BYTES), repr=False)
    hints: int = 0
    """Taken, from the first one on."""
    submission: Submission | None = None
    submissions: int = 0
    """How many answers there were, all in all."""

    def knows(self, secret: bytes) -> bool:
        """Whether this is the secret; takes the same time whatever it is."""
        return hmac.compare_digest(self.secret.encode(), secret)
