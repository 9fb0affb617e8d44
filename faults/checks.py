"""Strict checks of JSON values that collect problems instead of stopping at the first.

No implicit conversion: a boolean is not a number, 0 is not a boolean. As in JSON Schema, 5.0 is an integer and an
integer is a number. Whatever comes in, nothing but a `Problem` comes out.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from faults.errors import FaultError, Problem, pointer_to

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
TEXT_PATTERN = r"^[^\x00-\x08\x0b-\x1f\x7f-\x9f]*$"
"""What a string for people looks like, for JSON Schema: no control characters but tab and newline."""
MAX_PROBLEMS = 20
"""Problems reported at most; the rest are only counted, so that a hostile body cannot ask for a huge answer."""


@dataclass(frozen=True, slots=True)
class Range:
    """A closed range of numbers; without its lower end when `above` is true. None is unlimited."""

    minimum: float | None = None
    maximum: float | None = None
    above: bool = False

    def __contains__(self, value: float) -> bool:
        if self.minimum is not None and (value < self.minimum or (self.above and value == self.minimum)):
            return False
        return self.maximum is None or value <= self.maximum

    def __str__(self) -> str:
        low = "" if self.minimum is None else f"above {self.minimum:.10g}" if self.above else f"{self.minimum:.10g}"
        if self.maximum is None:
            return low if self.above or not low else f"of at least {low}"
        if not low:
            return f"of at most {self.maximum:.10g}"
        return f"{low} and up to {self.maximum:.10g}" if self.above else f"from {low} to {self.maximum:.10g}"


def show(value: object) -> str:
    """`value` for a message: one short line, whatever it is."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, str):
        return repr(value) if len(value) <= 40 else f"{value[:40]!r}…"
    if isinstance(value, int):
        return str(value) if value.bit_length() <= 64 else "an integer of more than 64 bits"
    if isinstance(value, float):
        return repr(float(value))
    if isinstance(value, Mapping):
        return "an object"
    return "an array" if isinstance(value, (list, tuple)) else f"a {type(value).__name__}"


def listed(names: Iterable[str]) -> str:
    """Names for a message, in the order given."""
    return ", ".join(names) or "none"


def _must(what: str, limits: object, value: object) -> str:
    return f"must be {f'{what} {limits}'.rstrip()}, not {show(value)}"


class Checker:
    """Collects problems. Each check returns the clean value, or None when it noted a problem."""

    def __init__(self) -> None:
        self._problems: list[Problem] = []
        self._unlisted = 0

    def add(self, pointer: str, detail: str) -> None:
        """Note a problem."""
        if len(self._problems) < MAX_PROBLEMS:
            self._problems.append(Problem(pointer, detail))
        else:
            self._unlisted += 1

    def error(self) -> FaultError:
        """The error that says all that was noted."""
        more = [Problem("", f"and {self._unlisted} more problems")] if self._unlisted else []
        return FaultError(self._problems + more)

    def finish(self) -> None:
        """Raise FaultError if anything was noted."""
        if self._problems:
            raise self.error()

    def members(self, value: object, pointer: str, known: Collection[str], *, of: str) -> dict[str, object] | None:
        """The members of an object whose keys are all in `known`; `of` says whose keys they are."""
        if not isinstance(value, Mapping):
            self.add(pointer, _must("an object", "", value))
            return None
        for key in value:
            if key not in known:
                at = pointer_to(pointer, key if isinstance(key, str) else show(key))
                self.add(at, f"is not a key of {of}; valid keys: {listed(known)}")
        return {key: value[key] for key in known if key in value}

    def number(self, value: object, pointer: str, limits: Range) -> float | None:
        """A finite number within `limits`."""
        if isinstance(value, (int, float)) and not isinstance(value, bool) and value in limits:
            try:
                clean = float(value)
            except OverflowError:
                clean = math.inf
            if math.isfinite(clean):
                return clean
        self.add(pointer, _must("a number", limits, value))
        return None

    def integer(self, value: object, pointer: str, limits: Range) -> int | None:
        """An integer within `limits`."""
        whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
        if isinstance(value, (int, float)) and not isinstance(value, bool) and whole and value in limits:
            return int(value)
        self.add(pointer, _must("an integer", limits, value))
        return None

    def boolean(self, value: object, pointer: str) -> bool | None:
        """True or false, nothing like them."""
        if isinstance(value, bool):
            return value
        self.add(pointer, _must("true or false", "", value))
        return None

    def string(self, value: object, pointer: str, *, max_length: int) -> str | None:
        """A string of at most `max_length` characters that UTF-8 can carry and a terminal can show as text."""
        if not isinstance(value, str) or len(value) > max_length:
            self.add(pointer, _must("a string", f"of at most {max_length} characters", value))
            return None
        if any("\ud800" <= character <= "\udfff" for character in value):
            self.add(pointer, "must be valid Unicode: it holds a lone surrogate")
            return None
        if _CONTROL.search(value):
            # People read it in terminals, which would do what it says.
            self.add(pointer, "must hold no control characters but tab and newline")
            return None
        return value

    def choice(self, value: object, pointer: str, choices: Collection[str]) -> str | None:
        """One of `choices`."""
        if isinstance(value, str) and value in choices:
            return value
        self.add(pointer, _must("one of", listed(choices), value))
        return None
