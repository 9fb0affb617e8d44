"""Which paths need the token: decided here and nowhere else, and read by the guard and by the API's document.

While an exam runs that is more than otherwise: whatever is not known to be harmless.
"""

from __future__ import annotations

import re

SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})
_SECRET_PATH = re.compile(
    r"/metrics/truth|/v1/scenarios/[^/]*/answer"
    r"|/v1/exam/(start|extend|stop|reveal|forget|answer|participants/[^/]*)"
)
_PARTICIPANTS_PATH = re.compile(r"/v1/exam/(participants|me(/.*)?)")
_ME_PATH = re.compile(r"/v1/exam/me(/.*)?")
# A list of what may be seen, not of what may not: a path that is added later is closed until somebody looks at it.
_SEEN_IN_EXAM = re.compile(
    r"/v1/(exam|exam/participants|exam/me(/.*)?|job|presets|kinds(/.*)?|scenarios(/[^/]*)?|state|step(/.*)?|history"
    r"|straggler)"
)


def is_secret(path: str) -> bool:
    """Whether a path is always behind the token, also on loopback: it holds the answers, or the exam's control."""
    return _SECRET_PATH.fullmatch(path) is not None


def is_for_participants(path: str) -> bool:
    """Whether a path is for those who take part in an exam, who have no token, wherever the lab is bound to."""
    return _PARTICIPANTS_PATH.fullmatch(path) is not None


def is_participants_own(path: str) -> bool:
    """Whether a path needs the secret of a participant."""
    return _ME_PATH.fullmatch(path) is not None


def is_hidden_in_exam(path: str, method: str) -> bool:
    """Whether a path needs the token while an exam runs: every other write, and every look at what is wrong."""
    if is_for_participants(path):
        return False
    if method not in SAFE_METHODS:
        return True
    return path.startswith("/v1/") and _SEEN_IN_EXAM.fullmatch(path) is None
