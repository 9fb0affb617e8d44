"""What the page of a real node needs to know of the source of training jobs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Protocol

from exporter.render import Format


class JobStatus(Protocol):
    """How the source is."""

    @property
    def up(self) -> bool:
        """Whether recorders can be heard."""

    @property
    def detail(self) -> str:
        """Where, or why not."""

    @property
    def errors(self) -> Mapping[str, int]:
        """Since the start, by reason."""

    @property
    def dropped(self) -> Mapping[str, int]:
        """Reports not believed since the start, by reason."""

    @property
    def last_success(self) -> float:
        """Unix time of the last good report; 0 before."""

    @property
    def runs(self) -> int:
        """Runs with something to show."""

    @property
    def ranks(self) -> int:
        """Ranks of all runs."""


class JobView(Protocol):
    """Reports of recorders as families. Methods may be called from any thread and do not wait."""

    @property
    def error_reasons(self) -> tuple[str, ...]:
        """Reasons that `JobStatus.errors` may have."""

    @property
    def drop_reasons(self) -> tuple[str, ...]:
        """Reasons that `JobStatus.dropped` may have."""

    def start(self) -> None:
        """Begin to listen."""

    def close(self) -> None:
        """End it."""

    def families(self, format_: Format) -> Iterator[str]:
        """Families of nodes and runs as text; nothing about the source itself."""

    def status(self) -> JobStatus:
        """How it is now."""
