"""Reading one value at a time out of a JSON object that nobody has vouched for."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

# Control characters but tab and newline, and lone surrogates: they can be written in JSON, and in no UTF-8.
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
_NOT_FINITE = {"NaN": math.nan, "+Inf": math.inf, "-Inf": -math.inf}


class Refused(Exception):
    """A report that is not believed. `reason` is one of DROP_REASONS, `detail` a sentence for the log."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason
        self.detail = detail


class Fields:
    """Values of one object by key. `null` is a missing value; a key that nobody asks for is ignored."""

    def __init__(self, values: object, where: str = "") -> None:
        """Refused when `values` is not an object; `where` is put before its keys in what is said."""
        if not isinstance(values, dict):
            raise Refused("type", f"{where or 'the report'} is not an object")
        self._values: Mapping[str, object] = values
        self._where = f"{where}." if where else ""

    def names(self) -> tuple[str, ...]:
        """Every key."""
        return tuple(self._values)

    def value(self, key: str, *, required: bool = False) -> object:
        """The value as it came, None when it is missing; Refused when it must not be."""
        value = self._values.get(key)
        if value is None and required:
            raise Refused("missing", f"{self._where}{key} is missing")
        return value

    def text(self, key: str, *, most: int = 128, required: bool = False) -> str:
        """At most so many characters, no control characters but tab and newline; empty when missing, if that may be."""
        value = self.value(key, required=required)
        if value is None:
            return ""
        if not isinstance(value, str):
            raise self._refused("type", key, "is not text")
        if len(value) > most or (required and not value):
            raise self._refused("range", key, f"is not 1 to {most} characters long")
        if _UNPRINTABLE.search(value):
            raise self._refused("text", key, "has characters that no label can have")
        return value

    def flag(self, key: str) -> bool:
        """True or false, false when missing."""
        value = self.value(key)
        if value is not None and not isinstance(value, bool):
            raise self._refused("type", key, "is neither true nor false")
        return bool(value)

    def whole(self, key: str, *, most: int, least: int = 0) -> int | None:
        """A whole number in a range, None when missing. 3.0 is one too."""
        value = self.value(key)
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int):
            raise self._refused("type", key, "is not a whole number")
        if not least <= value <= most:
            raise self._refused("range", key, f"is not between {least} and {most}")
        return value

    def needed(self, key: str, *, most: int, least: int = 0) -> int:
        """A whole number that must be there."""
        self.value(key, required=True)
        value = self.whole(key, most=most, least=least)
        assert value is not None
        return value

    def real(self, key: str, *, most: float) -> float | None:
        """A finite number from 0 to `most`, None when missing."""
        value = self.value(key)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise self._refused("type", key, "is not a number")
        if not 0 <= value <= most:  # also NaN, and an int that no float can hold
            raise self._refused("range", key, f"is not between 0 and {most:g}")
        return float(value) + 0.0  # -0.0 becomes 0.0

    def needed_real(self, key: str, *, most: float) -> float:
        """A finite number that must be there."""
        self.value(key, required=True)
        value = self.real(key, most=most)
        assert value is not None
        return value

    def any_real(self, key: str) -> float | None:
        """Any number, `"NaN"`, `"+Inf"` and `"-Inf"` included; None when missing."""
        value = self.value(key)
        if value is None:
            return None
        if isinstance(value, str) and value in _NOT_FINITE:
            return _NOT_FINITE[value]
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise self._refused("type", key, "is not a number")
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if not math.isfinite(number):
            raise self._refused("range", key, "is beyond every number")
        return number

    def _refused(self, reason: str, key: str, complaint: str) -> Refused:
        return Refused(reason, f"{self._where}{key} {complaint}")
