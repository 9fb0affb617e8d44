"""A simulated run as Prometheus would have stored it: the exporter's own pages, read at the times of scrapes.

Names, labels and values are those of the pages; `instance` and `job` are added as service discovery adds them. Targets
are not scraped at the same second: what is stored of a node is up to an interval old, by the node's place.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

import build_rules
from exporter.discovery import RUN_INSTANCE
from exporter.pages import NodeUnreachableError, Pages
from rulebook.profile import WORKSHOP, Profile
from simulator.observation import Tick
from simulator.run import Run
from tests.promql import selection

JOB = "stepscope"
_LINE = re.compile(r"(?P<name>[a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(?P<labels>.*)\})? (?P<value>\S+)")
_NOT_REPEATABLE = {"NaN": "NaN", "+Inf": "Inf", "-Inf": "-Inf"}
"""Values to which promtool's short form `1x5` does not apply, in its spelling."""


@cache
def families_read() -> frozenset[str]:
    """Names of the exposed series that some rule reads; the others would only make promtool slow."""
    exprs = [rule.expr for rule in build_rules.RECORDINGS] + [alert.expr for alert in build_rules.alerts()]
    recorded = {rule.record for rule in build_rules.RECORDINGS}
    return frozenset().union(*(selection(expr).metrics for expr in exprs)) - recorded


@dataclass(slots=True)
class Stored:
    """What has been stored so far, series by series."""

    interval: int
    """Seconds between scrapes; the first one is at 0."""
    scrapes: int = 0
    values: dict[str, list[str]] = field(default_factory=dict)
    """By `name{labels}`, one entry per scrape: a value, `_` before the first, `stale` once the series is gone."""

    def scrape(self, samples: Iterable[tuple[str, str]]) -> None:
        """Store one round of scrapes."""
        for series, value in samples:
            self.values.setdefault(series, ["_"] * self.scrapes).append(value)
        self.scrapes += 1
        for values in self.values.values():
            if len(values) < self.scrapes:
                values.append("_" if values[-1] in ("_", "stale") else "stale")

    def input_series(self) -> list[dict[str, str]]:
        """As promtool's `input_series`."""
        return [{"series": series, "values": " ".join(_packed(values))} for series, values in self.values.items()]


def scraped(run: Run, *, seconds: int, profile: Profile = WORKSHOP, after: Stored | None = None) -> Stored:
    """Advance the run by these seconds and scrape it all along; `after` goes on from what another run left behind."""
    stored = Stored(profile.scrape) if after is None else after
    engine = _Shown()
    pages = Pages(engine, clock=lambda: engine.tick.timestamp if engine.tick is not None else 0.0)
    recent = [run.advance()]
    for second in range(seconds):
        if second % stored.interval == 0:
            stored.scrape(_round(pages, engine, recent))
        recent = [*recent[-stored.interval + 1 :], run.advance()]
    return stored


@dataclass(slots=True)
class _Shown:
    """What the pages need of an engine: the tick that they are to show."""

    tick: Tick | None = None
    lag_seconds: float = 0.0
    skipped_seconds: float = 0.0
    failure: str | None = None

    def fault_event_counts(self) -> Mapping[tuple[str, str], int]:
        """Nobody asks for the truth here."""
        return {}


def _round(pages: Pages, engine: _Shown, recent: Sequence[Tick]) -> Iterator[tuple[str, str]]:
    """One scrape of every target; the run's is the newest."""
    for place, host in enumerate(recent[-1].info.hostnames):
        engine.tick = recent[-1 - place % len(recent)]
        try:
            yield from of_target(host, pages.node(host).body)
        except NodeUnreachableError:
            yield f"up{{{_labels(host)}}}", "0"
    engine.tick = recent[-1]
    yield from of_target(RUN_INSTANCE, pages.run().body)


def of_target(instance: str, body: bytes, *, job: str = JOB) -> Iterator[tuple[str, str]]:
    """What one scrape of a target stores, of what the rules read: series and value."""
    target = _labels(instance, job)
    yield f"up{{{target}}}", "1"
    for line in body.decode().splitlines():
        if line.partition("{")[0].partition(" ")[0] in families_read():
            found = _LINE.fullmatch(line)
            assert found is not None, line
            labels = f"{found['labels']},{target}" if found["labels"] else target
            yield f"{found['name']}{{{labels}}}", found["value"]


def _labels(instance: str, job: str = JOB) -> str:
    return f'instance="{instance}",job="{job}"'


def _packed(values: Sequence[str]) -> Iterator[str]:
    """Stretches of one value in promtool's short form, which it reads much faster."""
    start = 0
    for end in range(1, len(values) + 1):
        if end == len(values) or values[end] != values[start]:
            yield _stretch(values[start], end - start)
            start = end


def _stretch(value: str, length: int) -> str:
    if value in _NOT_REPEATABLE:
        return " ".join([_NOT_REPEATABLE[value]] * length)
    if length == 1:
        return value
    return f"_x{length}" if value == "_" else f"{value}x{length - 1}"
