"""Whether a value is a reading: not NaN, not one of DCGM's sentinels for "unknown", within the believable range."""

from __future__ import annotations

from exporter.sources.dcgm.names import Meaning

VALUE_REASONS = ("blank", "nan", "range")

_BEYOND = 2**63
"""DCGM holds no whole number above, and no other field that large; a float makes this of a 64-bit sentinel."""
_INT64_BLANK = 2**63 - 16
_INT32_BLANKS = frozenset(range(2**31 - 16, 2**31 - 12))
_DOUBLE_BLANKS = frozenset(2**47 + offset for offset in range(4))
"""Blank, not found, not supported, not permitted: dcgm_structs.h has them for each storage type."""

_TOLERANCE = 1.01
"""A reading this much beyond its greatest value is rounding, and cut; beyond it is not believed."""


def believe(value: int | float, meaning: Meaning) -> int | float | str:
    """The reading in the family's unit and number type, or which of VALUE_REASONS it is not one for.

    Whole numbers are compared as such, since four sentinels become one number in a float, and counters stay exact.
    """
    # Compared first: a whole number of hundreds of digits is no number to what follows.
    if not -_BEYOND <= value <= _BEYOND:
        return "nan" if value != value else "range"
    if _is_blank(value, meaning):
        return "blank"
    family = meaning.family
    if meaning.in_si(value):
        value *= family.scale
    lowest, greatest = family.range
    if not lowest <= value <= greatest * _TOLERANCE:
        return "range"
    value = min(value, greatest)
    if family.number == "int":
        return round(value)
    return float(value) if family.number == "double" else value


def _is_blank(value: int | float, meaning: Meaning) -> bool:
    if value >= _INT64_BLANK:
        return True
    if meaning.family.type != "gauge":
        # A counter may pass every number on its way.
        return False
    whole = isinstance(value, int)
    number = meaning.family.number
    if value in _INT32_BLANKS:
        return (number == "int" and not meaning.si) or (number == "float" and whole)
    return value in _DOUBLE_BLANKS and (number == "double" or not whole)
