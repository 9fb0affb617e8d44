"""What an exam refuses."""

from __future__ import annotations

from typing import Literal

Code = Literal["state", "full", "taken", "stranger", "missing", "order", "fast", "many"]


class ExamError(Exception):
    """A request that the exam, as it stands, does not allow. The message says why and holds no answer."""

    def __init__(self, code: Code, detail: str, *, retry_after_seconds: float = 0.0) -> None:
        super().__init__(detail)
        self.code = code
        self.retry_after_seconds = retry_after_seconds
