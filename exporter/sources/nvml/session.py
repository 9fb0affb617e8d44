"""From `nvmlInit` to `nvmlShutdown`, in one place and one thread, since NVML counts both."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from exporter.source import SourceError
from exporter.sources.nvml.binding import UNINITIALIZED, UNKNOWN, UNSUPPORTED, code_of, reason_of, text


@dataclass(frozen=True, slots=True)
class Opened:
    """NVML, initialised."""

    binding: Any
    driver: str
    """Version; empty when NVML does not tell."""
    count: int
    """Boards, lost ones included."""


class Session:
    """Everything but the constructor is for one thread."""

    def __init__(self, find: Callable[[], Any]) -> None:
        """`find` gives the module, or raises `SourceError`."""
        self._find = find
        self._library: Any = None
        self._driver = ""
        self._unpaid: list[Any] = []
        """The module of each session that has ended without its shutdown: until then no init is a new one."""

    def refresh(self, *, idle: bool) -> Opened:
        """How many boards there are now; initialises first when that is needed. Raises `SourceError`.

        `idle` says that no other thread is inside NVML.
        """
        call = "nvmlInit"
        try:
            if self._library is None:
                if idle:
                    self._pay()
                library = self._find()
                library.nvmlInit()
                self._library, self._driver = library, ""
                call = "nvmlSystemGetDriverVersion"
                self._driver = text(library.nvmlSystemGetDriverVersion())
            call = "nvmlDeviceGetCount"
            return Opened(self._library, self._driver, self._library.nvmlDeviceGetCount())
        except SourceError:
            raise
        except Exception as error:
            code = code_of(error)
            reason = reason_of(UNKNOWN if code in UNSUPPORTED else code)  # a driver that lacks these is no driver
            raise SourceError(reason, f"{call}: {_words(error)} ({code})") from None

    def end(self, *, idle: bool) -> None:
        """Begin anew at the next `refresh`. Nothing is shut down around a thread that is inside NVML."""
        if self._library is not None:
            self._unpaid.append(self._library)
            self._library = None
        if idle:
            self._pay()

    def _pay(self) -> None:
        while self._unpaid:
            try:
                self._unpaid[-1].nvmlShutdown()
            except Exception as error:
                if code_of(error) != UNINITIALIZED:  # then somebody else has done it
                    return
            self._unpaid.pop()


def _words(error: BaseException) -> str:
    try:
        return str(error) or type(error).__name__
    except Exception:  # NVML's own ask the library for words, which may be gone
        return type(error).__name__
