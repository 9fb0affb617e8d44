"""One tick in one state of health, and everything that it has been turned into so far."""

from __future__ import annotations

import gzip
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from exporter.render import Format
from exporter.selfmetrics import DOWN_REASONS, SelfMetrics
from exporter.sources.labels import LabelBook
from exporter.sources.readings import Readings, take
from simulator.observation import Tick

_GZIP_LEVEL = 1


@dataclass(slots=True)
class _Entry:
    lock: threading.Lock = field(default_factory=threading.Lock)
    plain: bytes | None = None
    packed: bytes | None = None


class Generation:
    """Pages of one tick. All of them come from this tick alone, however late they are asked for."""

    def __init__(self, *, tick: Tick | None, down: str, second: int, book: LabelBook | None, own: SelfMetrics) -> None:
        self.tick = tick
        self.down = down
        """Why the tick must not be shown; empty when it may be."""
        self.book = book
        self._second = second
        self._own = own
        self._entries: dict[tuple[str, Format], _Entry] = {}
        self._lock = threading.Lock()
        self._readings: Readings | None = None
        self._collect_seconds = 0.0
        self._render_seconds = 0.0
        self._exposition_bytes = 0

    def holds(self, *, tick: Tick | None, down: str, second: int) -> bool:
        """Whether this is still the generation to serve.

        While the source is down a page is good for one second only: the process and the counts of errors go on.
        """
        return self.tick is tick and self.down == down and (not down or self._second == second)

    def readings(self) -> Readings:
        """The boards' readings of the tick, taken once."""
        assert self.tick is not None
        with self._lock:
            if self._readings is None:
                started = time.perf_counter()
                self._readings = take(self.tick)
                self._collect_seconds = time.perf_counter() - started
            return self._readings

    def page(self, name: str, format_: Format, *, packed: bool, parts: Callable[[], Iterable[str]]) -> bytes:
        """The page `name`, rendered from `parts` by the first who asks; others wait for that rendering."""
        entry = self._entries.setdefault((name, format_), _Entry())
        with entry.lock:
            if entry.plain is None:
                entry.plain = self._render(format_, parts)
            if packed and entry.packed is None:
                entry.packed = gzip.compress(entry.plain, compresslevel=_GZIP_LEVEL, mtime=0)
            body = entry.packed if packed else entry.plain
        assert body is not None
        return body

    def own(self) -> SelfMetrics:
        """The exporter's view of itself at this tick."""
        if self.down:
            return self._own
        return replace(self._own, present=int(self.readings().present.sum()))

    def succeeded_by(self, *, tick: Tick | None, down: str) -> SelfMetrics:
        """The exporter's view of itself at the next tick: what this one cost and what happened since."""
        own = self._own
        broke = down if down != self.down else ""
        with self._lock:
            dropped = self._readings.dropped if self._readings is not None else 0
            return replace(
                own,
                up=not down,
                errors=tuple(count + (reason == broke) for reason, count in zip(DOWN_REASONS, own.errors, strict=True)),
                dropped=own.dropped + dropped,
                skipped=own.skipped + bool(down),
                collect_seconds=self._collect_seconds,
                last_success=tick.timestamp if tick is not None and not down else own.last_success,
                expected=tick.info.ranks if tick is not None else own.expected,
                present=0,
                render_seconds=self._render_seconds,
                exposition_bytes=self._exposition_bytes,
            )

    def _render(self, format_: Format, parts: Callable[[], Iterable[str]]) -> bytes:
        started = time.perf_counter()
        # Encoding family by family keeps the pieces in the processor's caches; the page is copied once.
        body = b"".join([*(part.encode() for part in parts()), format_.ending.encode()])
        elapsed = time.perf_counter() - started
        with self._lock:
            self._render_seconds += elapsed
            self._exposition_bytes += len(body)
        return body
