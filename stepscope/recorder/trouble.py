"""What went wrong inside the recorder: said once in the log, and kept from the training loop."""

from __future__ import annotations

import logging

_log = logging.getLogger("stepscope.recorder")


class Trouble:
    """One warning for each thing that fails, however often it does."""

    def __init__(self) -> None:
        self._said: set[str] = set()

    def note(self, what: str, error: object) -> None:
        """`what` names the part that does not work; training goes on without it."""
        self.say(what, f"{what}: {error}; training goes on, and this part of its telemetry may be missing")

    def say(self, what: str, message: str) -> None:
        """The message, unless there has been one about `what`."""
        if what not in self._said:
            self._said.add(what)
            _log.warning("%s", message)
