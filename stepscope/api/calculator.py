"""The straggler calculator behind the API: one calculation at a time, the newest answers kept."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from simulator.straggler import table
from stepscope.api.problems import ProblemError

MOST_COUNTS = 16
MOST_GPUS = 131_072
"""The largest fleet of the lab. At these limits a calculation takes about two seconds of one core."""
MOST_WAITING = 8
"""Requests that wait for their turn at most."""
_KEPT = 64

Rows = list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Question:
    """Arguments of `simulator.straggler.table`."""

    gpus: tuple[int, ...]
    slowdown: float
    slow_ranks: int
    jitter: float
    distribution: str
    stall_factor: float
    stall_rate: float
    seed: int
    communication: float = 0.0
    overlap: float = 0.0


class Calculator:
    """Answers questions on a thread, one after the other: no number of them takes more than one core."""

    def __init__(self) -> None:
        self._turn = asyncio.Lock()
        self._waiting = 0

    async def answer(self, question: Question) -> Rows:
        """`table` of the question. ValueError as it raises; 503 when too many wait already."""
        if self._waiting >= MOST_WAITING:
            busy = "The calculator is busy; come back in a few seconds."
            raise ProblemError(503, "calculator-busy", busy, headers={"Retry-After": "5"})
        self._waiting += 1
        try:
            async with self._turn:
                return await asyncio.to_thread(_table, question)
        finally:
            self._waiting -= 1


@lru_cache(maxsize=_KEPT)
def _table(question: Question) -> Rows:
    return table(
        question.gpus,
        slowdown=question.slowdown,
        slow_ranks=question.slow_ranks,
        jitter=question.jitter,
        distribution=question.distribution,
        stall_factor=question.stall_factor,
        stall_rate=question.stall_rate,
        communication=question.communication,
        overlap=question.overlap,
        seed=question.seed,
    )
