"""Which sources a node uses: those that were asked for, or those that are there."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from exporter.state import STARTING, State

AUTO = "auto"
_ABSENT = ("library_not_found", "driver_not_loaded")
"""Reasons of the NVML source that mean: this machine has no GPU to read. Any other is a fault of a driver."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Choice:
    """Whether a source is used, and why."""

    source: str
    chosen: bool
    reason: str
    """One word, or a reason of the source's errors."""
    words: str
    """The same for people."""


class Chooser:
    """Decides anew whenever it is asked; what was found once stays chosen, so that its loss is seen."""

    def __init__(self, asked: Iterable[str], *, auto: bool) -> None:
        """`asked`: sources that are used whatever happens. `auto`: the others are used when they are there."""
        self._asked = frozenset(asked)
        self._auto = auto
        self._found: set[str] = set()
        self._told: dict[str, str] = {}

    def asked(self, source: str) -> bool:
        """Whether this source is used whatever happens."""
        return source in self._asked or not self._auto

    def choose(self, states: Iterable[State]) -> tuple[Choice, ...]:
        """One choice for each source. Changes go to the log."""
        choices = tuple(self._choose(state) for state in states)
        for choice in choices:
            # Of what is not used the reason is news; what exactly an attempt met may differ each time.
            news = choice.words if choice.chosen else choice.reason
            if choice.reason != STARTING and self._told.get(choice.source) != news:
                _log.info("%s: %s", choice.source, choice.words)
                self._told[choice.source] = news
        return choices

    def _choose(self, state: State) -> Choice:
        source = state.source
        if self.asked(source):
            return Choice(source, True, "asked", "used, since --source names it")
        judge: Callable[[State], Choice] = self._dcgm if source == "dcgm" else self._nvml
        return judge(state)

    def _nvml(self, state: State) -> Choice:
        if state.expected:
            self._found.add(state.source)
        if state.source in self._found:
            return Choice(state.source, True, "gpus_found", "used: there are GPUs on this machine")
        if state.last is not None and state.up:
            return Choice(state.source, False, "no_gpus", "not used: the driver sees no GPU")
        faulty = state.reason not in (STARTING, *_ABSENT)
        words = f"{'used, though it fails' if faulty else 'not used'}: {state.detail}"
        return Choice(state.source, faulty, state.reason, words)

    def _dcgm(self, state: State) -> Choice:
        if state.last is not None:
            self._found.add(state.source)
        if state.source in self._found:
            fields = "the profiling fields" if "nvml" in self._found else "all fields"
            return Choice(state.source, True, "answers", f"used for {fields}: a dcgm-exporter answers")
        return Choice(state.source, False, state.reason, f"not used: {state.detail}")
