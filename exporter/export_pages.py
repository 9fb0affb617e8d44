"""The page of a real node: rendered at most once in half a second and format, whoever asks and how often."""

from __future__ import annotations

import gzip
import logging
import math
import threading
import time
from collections.abc import Callable, Iterator

from exporter.catalogue import Family
from exporter.export_self import Cost, own_families
from exporter.negotiation import choose_format, wants_gzip
from exporter.node import Moment, Node
from exporter.page import Page
from exporter.reading import Sample
from exporter.render import Format, head, header, number
from exporter.selfmetrics import ProcessMetrics

REUSE_SECONDS = 0.5
"""How long a page is good for: those who ask at once get the same."""
_GZIP_LEVEL = 1

_log = logging.getLogger(__name__)


class _Rendering:
    """The page of one moment in every format and encoding that was asked for."""

    def __init__(self, moment: Moment, made_at: float, shown: tuple[bool, ...], cost: Cost) -> None:
        self.moment = moment
        self.made_at = made_at
        self.shown = shown
        self.cost = cost
        """Of the rendering before."""
        self.own_cost = Cost()
        self._lock = threading.Lock()
        self._plain: dict[Format, bytes] = {}
        self._packed: dict[Format, bytes] = {}

    def body(self, format_: Format, *, packed: bool, parts: Callable[[], Iterator[str]]) -> bytes:
        """The page, rendered by the first who asks; others wait for that rendering."""
        with self._lock:
            if format_ not in self._plain:
                started = time.perf_counter()
                body = "".join([*parts(), format_.ending]).encode("utf-8", "backslashreplace")
                self.own_cost = Cost(time.perf_counter() - started, len(body))
                self._plain[format_] = body
            if packed and format_ not in self._packed:
                self._packed[format_] = gzip.compress(self._plain[format_], compresslevel=_GZIP_LEVEL, mtime=0)
            return (self._packed if packed else self._plain)[format_]


class ExportPages:
    """The metrics page of a node. `page` may be called from any thread, but not on an event loop: it renders."""

    def __init__(self, node: Node, *, version: str = "unknown", clock: Callable[[], float] = time.monotonic) -> None:
        self._node = node
        self._version = version
        self._clock = clock
        self._process = ProcessMetrics()
        self._lock = threading.Lock()
        self._rendering: _Rendering | None = None
        self._odd: set[str] = set()

    def page(self, accept: str | None = None, accept_encoding: str | None = None) -> Page:
        """What is known now. It never waits for a source."""
        format_, packed = choose_format(accept), wants_gzip(accept_encoding)
        rendering = self._current()
        body = rendering.body(format_, packed=packed, parts=lambda: self._parts(rendering, format_))
        return Page(body, format_.value, "gzip" if packed else None)

    def _current(self) -> _Rendering:
        with self._lock:
            now, shown, last = self._clock(), self._node.shown(), self._rendering
            # What has become too old since must not be served again, nor what has come back be held back.
            if last is None or now - last.made_at >= REUSE_SECONDS or last.shown != shown:
                cost = last.own_cost if last is not None else Cost()
                self._rendering = last = _Rendering(self._node.now(), now, shown, cost)
            return last

    def _parts(self, rendering: _Rendering, format_: Format) -> Iterator[str]:
        names: set[str] = set()
        for family, samples in rendering.moment.merged.families.items():
            name = family.openmetrics_name if format_ is Format.OPENMETRICS else family.name
            text = self._family(family, samples, format_) if name not in names else ""
            if text:
                names.add(name)
                yield text
        yield from self._node.job_text(format_)
        yield from own_families(rendering.moment, rendering.cost, version=self._version, format_=format_)
        yield from self._process.families(format_)

    def _family(self, family: Family, samples: tuple[Sample, ...], format_: Format) -> str:
        """One family; empty when it cannot be written, which costs nothing but itself."""
        try:
            return header(family, format_) + "".join(
                [f"{family.name}{head(sample.labels)}{_text(family, sample.value)}\n" for sample in samples]
            )
        except Exception as error:
            if family.name not in self._odd and len(self._odd) < 100:
                self._odd.add(family.name)
                _log.error("%s cannot be written and is left out: %s", family.name, error)
            return ""


def _text(family: Family, value: float) -> str:
    if not math.isfinite(value):
        raise ValueError(f"{value} is no reading")
    if family.number == "double":
        return f"{value:f}"
    return str(int(value)) if isinstance(value, int) or family.number == "int" else number(value)
