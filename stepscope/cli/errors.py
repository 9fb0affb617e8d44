"""How a command says no: one line on standard error and an exit status."""

from __future__ import annotations

FAILED = 1
"""The input was fine and something else was not."""
WRONG_INPUT = 2
INTERRUPTED = 130
BROKEN_PIPE = 141
"""128 and the signal's number, as a shell reports them."""


class CliError(Exception):
    """Ends the command. `str()` is the line to print, whatever the message was made of."""

    def __init__(self, message: str, *, status: int = FAILED) -> None:
        super().__init__(" ".join(message.split()))
        self.status = status


class UsageError(CliError):
    """What was typed cannot be used; the message names the key and what would be valid."""

    def __init__(self, message: str) -> None:
        super().__init__(message, status=WRONG_INPUT)
