"""Requests that may be sent twice: the same `Idempotency-Key` and the same body get the same answer.

After the IETF's draft-ietf-httpapi-idempotency-key-header. A key is kept once its request has succeeded; one that was
refused may be mended and sent again under its key. Two at the same time with one key: the second waits for the first.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable
from typing import Annotated, Generic, TypeVar

from fastapi import Header

from stepscope.api.problems import ErrorItem, ProblemError

KEPT = 1_024
"""Keys remembered; the oldest make room for new ones."""
PATTERN = '^([A-Za-z0-9_.:~+/=-]{1,255}|"[A-Za-z0-9_.:~+/=-]{1,255}")$'

T = TypeVar("T")

IdempotencyKey = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        pattern=PATTERN,
        description="Yours to choose, for example a UUID, with or without quotes: sent again with the same body, the "
        f"request does nothing and gets the first answer again. The last {KEPT:,} keys are remembered.",
    ),
]


class Answers(Generic[T]):
    """The answers to requests that carried a key. May be used from any thread."""

    def __init__(self, kept: int = KEPT) -> None:
        self._kept = kept
        self._lock = threading.Lock()
        self._answers: dict[str, tuple[bytes, T]] = {}

    def once(self, key: str | None, body: object, answer: Callable[[], T]) -> T:
        """What `answer` returned when `key` first came, or returns now. 422 when the key came with another body."""
        if key is None:
            return answer()
        key, print_ = key.strip('"'), _fingerprint(body)
        with self._lock:
            if key not in self._answers:
                self._answers[key] = (print_, answer())
                while len(self._answers) > self._kept:
                    del self._answers[next(iter(self._answers))]
            first, found = self._answers[key]
        if first != print_:
            detail = "was used for another body; a new request needs a new key"
            item = ErrorItem("header", "/idempotency-key", detail)
            raise ProblemError(422, "idempotency-key-reused", f"idempotency-key: {detail}", errors=[item])
        return found


def _fingerprint(body: object) -> bytes:
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).digest()
