"""The metrics pages: rendered at most once per tick, page and format, whoever asks and how often."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from exporter.catalogue import HOSTNAME
from exporter.engine import EngineView, why_down
from exporter.generation import Generation
from exporter.negotiation import choose_format, wants_gzip
from exporter.page import Page
from exporter.render import Format
from exporter.selfmetrics import ProcessMetrics, SelfMetrics, engine_families
from exporter.sources import simulated
from exporter.sources.labels import Heads, LabelBook
from exporter.truth import truth_families
from simulator.observation import Tick

MAX_AGE_SECONDS = 10.0


class NodeUnreachableError(Exception):
    """This node does not answer, while the others do."""


class Pages:
    """All metrics pages of one lab. Methods may be called from any thread, but not on an event loop: they render."""

    def __init__(
        self,
        engine: EngineView,
        *,
        hostname_label: str = HOSTNAME,
        max_age_seconds: float = MAX_AGE_SECONDS,
        clock: Callable[[], float] = time.time,
        version: str = "unknown",
    ) -> None:
        """`clock` gives Unix seconds, as a tick's timestamp does. ValueError for a `hostname_label` of another name."""
        if hostname_label not in (HOSTNAME, HOSTNAME.lower()):
            raise ValueError(f"hostname_label: {hostname_label!r} is neither {HOSTNAME!r} nor {HOSTNAME.lower()!r}")
        self._engine = engine
        self._hostname_label = hostname_label
        self._max_age = max_age_seconds
        self._clock = clock
        self._process = ProcessMetrics()
        self._lock = threading.Lock()
        own = SelfMetrics(simulated.SOURCE, version)
        self._generation = Generation(tick=None, down="no_data", second=-1, book=None, own=own)

    def node(self, name: str, accept: str | None = None, accept_encoding: str | None = None) -> Page:
        """The page of one node: its GPUs, its ranks and itself.

        KeyError for a node that is not in the run, NodeUnreachableError for one that does not answer.
        """
        current = self._current()
        node = current.book.nodes.get(name) if current.book is not None else None
        if node is None:
            raise KeyError(name)
        if not _reachable(current)[node]:
            raise NodeUnreachableError(name)
        return self._page(current, f"node {node}", accept, accept_encoding, lambda f: _node_page(current, node, f))

    def run(self, accept: str | None = None, accept_encoding: str | None = None) -> Page:
        """The page of the run, the exporter and the process; answers before the first tick too."""
        current = self._current()
        return self._page(current, "run", accept, accept_encoding, lambda f: self._run_page(current, f, gpu_up=True))

    def all(self, accept: str | None = None, accept_encoding: str | None = None) -> Page:
        """Every node and the run on one page."""
        current = self._current()
        return self._page(current, "all", accept, accept_encoding, lambda f: self._whole_page(current, f))

    def truth(self, accept: str | None = None, accept_encoding: str | None = None) -> Page:
        """The faults that act. The caller guards it with the token."""
        current = self._current()
        return self._page(current, "truth", accept, accept_encoding, lambda f: self._truth_page(current, f))

    def _current(self) -> Generation:
        now = self._clock()
        with self._lock:
            tick = self._engine.tick
            down = why_down(self._engine, tick, now=now, max_age_seconds=self._max_age)
            last = self._generation
            if not last.holds(tick=tick, down=down, second=int(now)):
                own = last.succeeded_by(tick=tick, down=down)
                book = self._book_of(tick, last.book)
                self._generation = Generation(tick=tick, down=down, second=int(now), book=book, own=own)
            return self._generation

    def _book_of(self, tick: Tick | None, last: LabelBook | None) -> LabelBook | None:
        if tick is None or (last is not None and last.info is tick.info):
            return last
        return LabelBook(tick.info, hostname_label=self._hostname_label)

    def _page(
        self,
        current: Generation,
        name: str,
        accept: str | None,
        accept_encoding: str | None,
        families: Callable[[Format], Iterable[str]],
    ) -> Page:
        format_, packed = choose_format(accept), wants_gzip(accept_encoding)
        body = current.page(name, format_, packed=packed, parts=lambda: families(format_))
        return Page(body, format_.value, "gzip" if packed else None)

    def _run_page(self, current: Generation, format_: Format, *, gpu_up: bool) -> Iterator[str]:
        if current.tick is not None and not current.down:
            yield from simulated.run_families(current.tick, format_)
        yield from current.own().families(format_, gpu_up=gpu_up)
        yield from engine_families(self._engine.lag_seconds, self._engine.skipped_seconds, format_)
        yield from self._process.families(format_)

    def _whole_page(self, current: Generation, format_: Format) -> Iterator[str]:
        if current.book is not None:
            yield from _node_families(current, current.book.all(_reachable(current)), format_)
        yield from self._run_page(current, format_, gpu_up=current.book is None)

    def _truth_page(self, current: Generation, format_: Format) -> Iterator[str]:
        tick = current.tick if not current.down else None
        return truth_families(tick, self._engine.fault_event_counts(), format_)


def _reachable(current: Generation) -> NDArray[np.bool_]:
    """(K,) which nodes answer."""
    tick = current.tick
    assert tick is not None
    if tick.monitoring is None:
        return np.ones(tick.info.nodes, dtype=bool)
    return tick.monitoring.reachable


def _node_page(current: Generation, node: int, format_: Format) -> Iterator[str]:
    assert current.book is not None
    return _node_families(current, current.book.node(node), format_)


def _node_families(current: Generation, heads: Heads, format_: Format) -> Iterator[str]:
    if current.tick is None or current.down:
        yield simulated.gpu_up(heads, [current.down] * len(heads.gpus), format_)
        return
    readings = current.readings()
    yield from simulated.gpu_families(readings, heads, format_)
    reasons = ["" if present else "gpu_lost" for present in readings.present[heads.ranks].tolist()]
    yield simulated.gpu_up(heads, reasons, format_)
    yield from simulated.rank_families(current.tick, heads, format_)
    yield from simulated.node_families(current.tick, heads, format_)
