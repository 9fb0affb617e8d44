"""What a source of GPU readings promises to the collector that runs it."""

from __future__ import annotations

from typing import Protocol

from exporter.reading import Reading


class SourceError(Exception):
    """A cycle that found nothing: the source is down until one succeeds."""

    def __init__(self, reason: str, detail: str) -> None:
        """`reason` is one of the source's `error_reasons`; `detail` is a sentence for the log."""
        super().__init__(detail)
        self.reason = reason
        self.detail = detail


class Source(Protocol):
    """Everything but the constructor is called from one thread, the collector's."""

    name: str
    """Value of the label `source`: `nvml` or `dcgm`."""
    error_reasons: tuple[str, ...]
    """Reasons that `SourceError` and `Reading.errors` may have; each is a series from the start."""
    drop_reasons: tuple[str, ...]
    """Reasons that `Reading.dropped` may have; each is a series from the start."""

    def collect(self, deadline: float) -> Reading:
        """One cycle, over before `deadline` (as `time.monotonic` has it).

        Raises `SourceError` when there is nothing to report because something failed. A machine without a GPU is a
        reading with none.
        """

    def close(self) -> None:
        """Give back what the source holds. It may be opened again by another `collect`."""
