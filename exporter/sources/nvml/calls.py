"""Calls to the driver for one board: what fails is noted, what is not supported is not asked again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from exporter.sources.nvml.binding import BOARD_GONE, NOTHING, SESSION_GONE, UNSUPPORTED, code_of, reason_of
from exporter.sources.nvml.queries import Query
from exporter.sources.nvml.samples import BLANK, Place, Samples

T = TypeVar("T")


class Gone(Exception):
    """Nothing more can be had of the board."""

    def __init__(self, code: int) -> None:
        super().__init__(reason_of(code))
        self.code = code


class Calls:
    """The error boundary around each call; for the thread of its board."""

    def __init__(self, library: Any) -> None:
        self.binding = library
        self.unsupported: dict[str, int] = {}
        """NVML's code by what is not supported, for as long as the board's handle lives."""
        self.failures: dict[str, int] = {}
        """NVML's code by the call that failed in this cycle, for reasons that may pass."""
        self._passed_over: set[str] = set()

    def ask(self, call: str, *arguments: Any, once: str = "") -> Any:
        """What NVML answers; None when it fails or is known not to be supported.

        `once` names what is remembered as not supported; empty for what must be asked each time. Raises `Gone`.
        """
        if once and once in self.unsupported:
            return None
        try:
            return getattr(self.binding, call)(*arguments)
        except UnicodeDecodeError:  # of a binding that decodes: the driver did answer
            return None
        except Exception as error:
            self.failed(call, code_of(error), once=once)
            return None

    def attempt(self, call: str, work: Callable[[], T]) -> T | None:
        """What `work` returns, which makes `call` its own way; None when that fails or is not supported."""
        if call in self.unsupported:
            return None
        try:
            return work()
        except Exception as error:
            self.failed(call, code_of(error), once=call)
            return None

    def failed(self, call: str, code: int, *, once: str = "") -> None:
        """Note that `call` gave `code`. Raises `Gone` when that speaks for the whole board."""
        if code in UNSUPPORTED:
            if once:
                self.unsupported[once] = code
        elif code not in NOTHING:
            self.failures[call] = code
            if code in BOARD_GONE or code in SESSION_GONE:
                raise Gone(code)

    def query(self, query: Query, handle: Any, samples: Samples, place: Place) -> None:
        """Ask `query`, or what it says to ask instead, and add the answer's values. Raises `Gone`."""
        asked: Query | None = query
        while asked is not None:
            name = f"{asked.name} of instance {place.instance}" if place.instance else asked.name
            if name in self.unsupported:
                return
            if name not in self._passed_over:
                try:
                    raw = self._answer(asked, handle)
                except Exception as error:
                    code = code_of(error)
                    if code not in UNSUPPORTED or asked.instead is None:
                        self.failed(asked.call, code, once=name)
                        return
                    self._passed_over.add(name)
                else:
                    _add(asked, raw, samples, place)
                    return
            asked = asked.instead

    def _answer(self, query: Query, handle: Any) -> Any:
        function = getattr(self.binding, query.call)
        if query.argument:
            return query.read(function(handle, getattr(self.binding, query.argument)))
        return query.read(function(handle))


def _add(query: Query, raw: Any, samples: Samples, place: Place) -> None:
    exposed = query.exposed
    for family, value in zip(query.families, raw, strict=True):
        if value == query.blank:
            samples.drop(BLANK)
        else:
            samples.add(family, value if exposed is None else exposed(value), place)
