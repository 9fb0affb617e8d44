"""NVML as a source of GPU readings: sessions that begin anew when the driver was lost, boards read side by side."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

from exporter.catalogue import DCGM_FAMILIES, HOSTNAME
from exporter.reading import Gpu, Reading
from exporter.source import SourceError
from exporter.sources.nvml.binding import (
    BOARD_GONE,
    NOT_SUPPORTED,
    REASONS,
    SESSION_GONE,
    TIMEOUT,
    UNKNOWN,
    load,
    reason_of,
)
from exporter.sources.nvml.board import Node, Snapshot
from exporter.sources.nvml.fleet import Fleet, Slot, down, standing
from exporter.sources.nvml.journal import Journal
from exporter.sources.nvml.roster import Roster
from exporter.sources.nvml.samples import DROP_REASONS
from exporter.sources.nvml.session import Opened, Session
from exporter.sources.nvml.worker import Crew

_MARGIN_SECONDS = 0.02
"""Kept of the deadline for making a reading of what was read."""
_CLOSING_SECONDS = 0.4
_FIRST_DELAY_SECONDS = 1.0
_LONGEST_DELAY_SECONDS = 60.0


class NvmlSource:
    """Readings of this machine's GPUs from NVML.

    A board that is lost, or of which nothing can be read, has the session begun anew: after 1 s, then 2, 4 … 60 s for
    as long as the same boards are gone, since the others lose one cycle of what takes two samples. A session whose
    handles are void is begun anew in the next cycle. While a call is stuck NVML is not shut down around it.
    """

    name = "nvml"
    error_reasons = tuple(sorted(set(REASONS.values()) - {REASONS[NOT_SUPPORTED]}))
    drop_reasons: tuple[str, ...] = DROP_REASONS

    def __init__(
        self,
        *,
        library: Any = None,
        hostname: str,
        hostname_label: str = HOSTNAME,
        clock: Callable[[], float] = time.monotonic,
        call_timeout_seconds: float = 2.0,
        max_age_seconds: float = 10.0,
    ) -> None:
        """Asks the driver nothing yet.

        `library` stands in for the module `pynvml`. A board that has not answered after `call_timeout_seconds` is
        left to itself; what it said before holds for `max_age_seconds`.
        """
        self._hostname = hostname
        self._hostname_label = hostname_label
        self._clock = clock
        self._call_timeout = call_timeout_seconds
        crew = Crew("nvml", clock)
        self._root = crew.hire("session")
        self._session = Session(load if library is None else lambda: library)
        self._fleet = Fleet(crew, clock, max_age_seconds)
        self._roster = Roster()
        self._journal = Journal()
        self._xids: dict[str, int] = {}
        self._boards: int | None = None
        """As many as the session had when it began; None until it has."""
        self._due: float | None = None
        """When the session is to begin anew."""
        self._void = False
        """Whether that cannot wait for a call that is stuck."""
        self._delay = _FIRST_DELAY_SECONDS
        self._gone: frozenset[str] = frozenset()

    def collect(self, deadline: float) -> Reading:
        """One cycle; see `exporter.source.Source`."""
        started = self._clock()
        until = min(started + self._call_timeout, deadline - _MARGIN_SECONDS)
        self._fleet.settle()
        if self._due is not None and started >= self._due:
            self._end_session(until)
        opened = self._refresh(until)
        if self._boards not in (None, opened.count) and self._end_session(until):
            opened = self._refresh(until)
        if self._boards is None:
            node = Node(hostname=self._hostname, hostname_label=self._hostname_label, driver=opened.driver)
            self._fleet.man(opened, node, self._xids)
            self._boards = opened.count
        self._fleet.read(until)
        return self._reading()

    def close(self) -> None:
        """Give everything back but what a stuck call holds; takes half a second at most."""
        until = self._clock() + _CLOSING_SECONDS
        self._fleet.settle()
        if not self._end_session(until):
            self._fleet.dismiss(until)
            self._boards = None
        self._fleet.stop()
        if not self._root.busy:
            self._root.stop()

    def _end_session(self, until: float) -> bool:
        """Whether it has been ended: not while a call is stuck, unless every handle is void anyway."""
        if self._root.busy or (self._fleet.stuck and not self._void):
            return False
        self._fleet.dismiss(until)
        self._root.give(partial(self._session.end, idle=not self._fleet.stuck))
        self._fleet.settle([self._root], until)
        self._boards, self._due, self._void = None, None, False
        return True

    def _refresh(self, until: float) -> Opened:
        self._fleet.settle([self._root], until)  # what it was left with in an earlier cycle
        if not self._root.busy:
            self._root.give(partial(self._session.refresh, idle=not self._fleet.stuck))
            self._fleet.settle([self._root], until)
        if self._root.busy:
            raise SourceError(reason_of(TIMEOUT), "NVML has not answered yet")
        result = self._root.result
        if isinstance(result, Opened):
            return result
        self._due, self._void = self._clock(), True
        if isinstance(result, SourceError):
            raise SourceError(result.reason, result.detail)
        raise SourceError(reason_of(UNKNOWN), f"{type(result).__name__}: {result}")

    def _reading(self) -> Reading:
        errors: Counter[str] = Counter()
        dropped: Counter[str] = Counter()
        given: dict[str, Snapshot] = {}
        gpus: dict[str, Gpu] = {}
        codes: dict[str, int] = {}
        for slot, snapshot, code in self._fleet.results():
            gpu = standing(slot, snapshot) if snapshot is not None else down(slot, code)
            errors += _errors(slot, code)
            if slot.fresh and slot.snapshot is not None:
                dropped.update(slot.snapshot.samples.dropped)
            if gpu.key in given or (gpu.key in gpus and snapshot is None):
                continue  # a stuck thread of an earlier session still names a board that has a new one
            gpus[gpu.key], codes[gpu.key] = gpu, code
            self._log(gpu, snapshot, code)
            self._remember(slot)
            if snapshot is not None:
                given[gpu.key] = snapshot
        self._plan(codes)
        if codes and not given and set(codes.values()) <= SESSION_GONE | {UNKNOWN}:
            code = next(iter(codes.values()))
            raise SourceError(reason_of(code), f"no board gives anything: {reason_of(code)} ({code})")
        everyone = self._roster.complete(gpus.values())
        families = {}
        for family in DCGM_FAMILIES:
            rows = tuple(sample for had in given.values() for sample in had.samples.families.get(family.name, ()))
            if rows:
                families[family] = rows
        return Reading(families=families, gpus=everyone, expected=len(everyone), dropped=dropped, errors=errors)

    def _log(self, gpu: Gpu, snapshot: Snapshot | None, code: int) -> None:
        if snapshot is None:
            self._journal.note_down(gpu, code)
        else:
            self._journal.note(gpu, {**snapshot.unsupported, **snapshot.failures})

    def _remember(self, slot: Slot) -> None:
        gpu, xid = slot.gpu, slot.snapshot.last_xid if slot.snapshot is not None else 0
        if xid and gpu.uuid and self._xids.get(gpu.uuid) != xid:
            self._xids[gpu.uuid] = xid
            self._journal.note_xid(gpu, xid)

    def _plan(self, codes: dict[str, int]) -> None:
        now = self._clock()
        gone = frozenset(key for key, code in codes.items() if code in BOARD_GONE or code == UNKNOWN)
        if any(code in SESSION_GONE for code in codes.values()):
            self._due, self._void = now, True
        elif not codes:
            self._due = now  # NVML counts boards when it is initialised
        elif gone != self._gone:
            self._delay = _FIRST_DELAY_SECONDS
            self._due = now + self._delay if gone else None
        elif gone and self._due is None:
            self._delay = min(2 * self._delay, _LONGEST_DELAY_SECONDS)
            self._due = now + self._delay
        self._gone = gone


def _errors(slot: Slot, code: int) -> Counter[str]:
    if code:
        return Counter({reason_of(code): 1} if code != NOT_SUPPORTED else {})
    if not slot.fresh:
        return Counter({reason_of(TIMEOUT): 1})
    assert slot.snapshot is not None
    return Counter(reason_of(failure) for failure in slot.snapshot.failures.values())
