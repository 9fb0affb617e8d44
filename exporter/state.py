"""What is known of a source at one moment: the collector writes it, pages and readiness read it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from exporter.reading import Gpu, Reading

STARTING = "starting"
"""Why a source that has not finished a cycle yet is not up."""
STALE = "stale"
"""Why a source is not up whose last reading was good and has become too old."""


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """One source of GPU readings."""

    source: str
    up: bool = False
    """Whether the last cycle succeeded, recently, and none hangs."""
    reason: str = STARTING
    """Why it is not up: one of the reasons of `errors`, STARTING or STALE; empty when it is."""
    detail: str = ""
    """The same as a sentence."""
    reading: Reading | None = None
    """The last good one; None once it is too old, and before the first."""
    last: Reading | None = None
    """The last good one, however old: it tells which GPUs there should be."""
    failures: int = 0
    """Cycles failed in a row; a cycle that hangs counts once for each time that its deadline has passed."""
    errors: Mapping[str, int]
    dropped: Mapping[str, int]
    skipped: Mapping[str, int]
    """Counts since the start, by reason; every reason that there is has one."""
    collect_seconds: float = 0.0
    """Of the last cycle."""
    last_success: float = 0.0
    """Unix time; 0 before the first."""

    @property
    def gpus(self) -> tuple[Gpu, ...]:
        """Boards of the last good reading; those of one that is too old carry the reason."""
        if self.reading is not None:
            return self.reading.gpus
        known = self.last.gpus if self.last is not None else ()
        return tuple(replace(gpu, reason=gpu.reason or self.reason) for gpu in known)

    @property
    def expected(self) -> int:
        """GPUs that the source should report, as it last knew."""
        return self.last.expected if self.last is not None else 0

    @property
    def present(self) -> int:
        """GPUs that it reports now."""
        return sum(gpu.up for gpu in self.reading.gpus) if self.reading is not None else 0
