"""Diagnoses behind the API: one at a time, and one for each moment however often it is asked for."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass

from diagnosis.engine import diagnose
from diagnosis.mapping import to_mapping
from diagnosis.ticks import series_of
from simulator.engine import Engine

_KEPT = 16


@dataclass(frozen=True, slots=True)
class DiagnosisQuestion:
    """What is asked."""

    window_seconds: float
    price_per_gpu_hour: float | None


class Diagnoses:
    """Answers from the ticks of the engine, seen as scrapes see them. Its faults are never looked at."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._answers: OrderedDict[tuple[str, int, DiagnosisQuestion], dict[str, object]] = OrderedDict()

    def answer(self, engine: Engine, question: DiagnosisQuestion) -> dict[str, object] | None:
        """The diagnosis of the run that goes on, as a mapping; None before its first tick is kept."""
        ticks = engine.recent()
        if not ticks:
            return None
        key = (ticks[-1].info.run, ticks[-1].index, question)
        with self._lock:
            if key not in self._answers:
                found = diagnose(
                    series_of(ticks),
                    window_seconds=question.window_seconds,
                    price_per_gpu_hour=question.price_per_gpu_hour,
                )
                self._answers[key] = to_mapping(found)
                while len(self._answers) > _KEPT:
                    self._answers.popitem(last=False)
            return self._answers[key]
