"""What an exam refuses, as problems."""

from __future__ import annotations

import math

from stepscope.api.problems import ProblemError
from stepscope.exam.error import ExamError

_STATUS = {"missing": 404, "stranger": 401, "fast": 429}
_KIND = {
    "state": "exam-state",
    "full": "exam-full",
    "taken": "name-taken",
    "stranger": "participant-required",
    "missing": "not-found",
    "order": "hint-order",
    "fast": "too-fast",
    "many": "too-many-answers",
}


def problem_of(error: ExamError) -> ProblemError:
    """401 for strangers, 404 for what is not there, 429 for haste, 409 for all else."""
    status = _STATUS.get(error.code, 409)
    headers = {}
    if status == 429:
        headers["Retry-After"] = str(math.ceil(error.retry_after_seconds))
    if status == 401:
        headers["WWW-Authenticate"] = 'Bearer realm="exam"'
    return ProblemError(status, _KIND[error.code], str(error), headers=headers)
