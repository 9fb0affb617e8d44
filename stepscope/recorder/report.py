"""What the recorder knows, as one datagram. `exporter.sources.job.wire` says what each key means."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping

from exporter.sources.job.wire import MAX_BYTES, MOST_BATCHES, MOST_BYTES, MOST_COUNT, MOST_FLOPS, VERSION
from stepscope.recorder.books import RECORDED, Books
from stepscope.recorder.learned import Learned
from stepscope.recorder.settings import Settings

_BACK_SECONDS = 30.0


class Reports:
    """Makes the reports of one session, each newer than the one before and none of its totals less."""

    def __init__(self, settings: Settings, *, session: str, started_unix: float) -> None:
        self._fixed = _fixed(settings, session, started_unix)
        self._settings = settings
        self._seq = 0
        self._seconds = [0.0] * len(RECORDED)
        self._collective_seconds = 0.0
        self._last_step_time: float | None = None

    def make(
        self,
        books: Books,
        learned: Learned,
        *,
        now: float,
        unix: float,
        final: bool,
        gpu: Mapping[str, object],
        collective: tuple[float, float] | None,
        queue: tuple[float, float] | None,
    ) -> bytes:
        """The next report at `now` by the books' clock, which is `unix` by the calendar; the books' lock is held.

        `collective` is seconds and bytes, `queue` is batches and capacity; None for what is not known.
        """
        # A running phase is estimated where the device is not heard of yet; what was reported never becomes less.
        seconds = [max(pair) for pair in zip(self._seconds, books.seconds_until(now), strict=True)]
        self._seconds = seconds
        report = dict(self._fixed)
        report.update(seq=self._seq, time=unix, final=final, gpu=dict(gpu))
        report["phases"] = {name: round(spent, 6) for name, spent in zip(RECORDED, seconds, strict=True)}
        report.update(steps=books.steps, tokens=books.tokens, model_flops=books.model_flops)
        if self._settings.samples_per_step is not None or books.samples:
            report["samples"] = books.samples
        report.update(checkpoints=books.checkpoints, nonfinite_steps=learned.nonfinite_steps)
        report.update(skipped_steps=learned.skipped_steps, grad_norm_spikes=learned.grad_norm_spikes)
        report["step_seconds"] = {"sum": books.step_seconds, "counts": books.step_counts}
        report.update((name, number(value)) for name, value in learned.last.items())
        if collective is not None:
            self._collective_seconds = max(self._collective_seconds, collective[0])
            report.update(collective_seconds=self._collective_seconds, collective_bytes=collective[1])
        if queue is not None:
            report.update(queue_batches=queue[0], capacity_batches=queue[1])
        if books.last_step is not None:
            self._date(report, unix - (now - books.last_step), unix)
        self._seq += 1
        return _encoded({name: value for name, value in report.items() if _can_be_said(name, value)})

    def _date(self, report: dict[str, object], ended: float, unix: float) -> None:
        """When the last step ended. A calendar that was set back far starts anew, after a report without."""
        before = self._last_step_time
        if before is not None and before > unix + _BACK_SECONDS:
            self._last_step_time = None
            return
        self._last_step_time = ended if before is None else max(before, ended)
        report["last_step_time"] = self._last_step_time


_MOST: Mapping[str, float] = {
    "tokens": MOST_COUNT,
    "samples": MOST_COUNT,
    "model_flops": MOST_FLOPS,
    "collective_bytes": MOST_BYTES,
    "queue_batches": MOST_BATCHES,
    "capacity_batches": MOST_BATCHES,
}
"""What the script has a say in, and how much of it there can be."""


def _can_be_said(name: str, value: object) -> bool:
    """Whether a reader takes it. A number out of its range would cost the whole report, left out only itself."""
    return not isinstance(value, (int, float)) or name not in _MOST or 0 <= value <= _MOST[name]


def number(value: float) -> float | str:
    """A number as the report has it: JSON has no NaN."""
    if math.isnan(value):
        return "NaN"
    return value if math.isfinite(value) else "+Inf" if value > 0 else "-Inf"


def _fixed(settings: Settings, session: str, started_unix: float) -> dict[str, object]:
    fixed: dict[str, object] = {
        "v": VERSION,
        "run": settings.run,
        "rank": settings.rank,
        "world_size": settings.world_size,
        "local_rank": settings.local_rank,
        "session": session,
        "started": started_unix,
        **settings.texts,
    }
    if settings.peak_flops_per_second is not None:
        fixed["peak_flops_per_second"] = settings.peak_flops_per_second
    return fixed


def _encoded(report: dict[str, object]) -> bytes:
    datagram = json.dumps(report, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    assert len(datagram) <= MAX_BYTES, "all texts are bounded, and they are all that varies"
    return datagram
