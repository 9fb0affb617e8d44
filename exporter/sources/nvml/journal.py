"""The log of what fails: a line when it begins and one when it ends, however many cycles lie between."""

from __future__ import annotations

import logging
from collections.abc import Mapping

from exporter.reading import Gpu
from exporter.sources.nvml.binding import UNSUPPORTED, reason_of

_log = logging.getLogger("exporter.nvml")

EVERY_CALL = "every call"


class Journal:
    """What was last said of each board."""

    def __init__(self) -> None:
        self._said: dict[str, dict[str, int]] = {}

    def note(self, gpu: Gpu, failures: Mapping[str, int]) -> None:
        """The board answers, but for `failures`: NVML's code by call."""
        before = self._said.get(gpu.key, {})
        if failures == before:
            return
        for call in before.keys() - failures.keys():
            _log.info("GPU %s: %s works again", _named(gpu), call)
        self._say(gpu, before, failures)
        self._said[gpu.key] = dict(failures)

    def note_down(self, gpu: Gpu, code: int) -> None:
        """The board gives nothing. What was wrong with its single calls before may still be so."""
        before = self._said.setdefault(gpu.key, {})
        self._say(gpu, before, {EVERY_CALL: code})
        before[EVERY_CALL] = code

    def note_xid(self, gpu: Gpu, code: int) -> None:
        """The board's last critical error is another one now."""
        _log.warning("GPU %s: XID %d", _named(gpu), code)

    def _say(self, gpu: Gpu, before: Mapping[str, int], failures: Mapping[str, int]) -> None:
        for call, code in failures.items():
            if before.get(call) != code:
                level = logging.INFO if code in UNSUPPORTED else logging.WARNING
                words = "is not supported" if code in UNSUPPORTED else f"fails: {reason_of(code)}"
                _log.log(level, "GPU %s: %s %s (%d)", _named(gpu), call, words, code)


def _named(gpu: Gpu) -> str:
    return f"{gpu.index} ({gpu.uuid})" if gpu.uuid else gpu.index
