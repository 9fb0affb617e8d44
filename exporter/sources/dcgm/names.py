"""Which family a sample name of a dcgm-exporter means, whichever generation wrote it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from exporter.catalogue import GPU_LABELS, Family, Type, find, find_si
from exporter.sources.dcgm.parser import Page

MAX_FAMILIES = 1_024
"""Families beyond the catalogue's that one source ever passes on; DCGM has some six hundred fields."""

_MAX_HELP = 1_023
_TYPES: dict[str, Type] = {"counter": "counter", "gauge": "gauge"}
_SPELLED_BY_A_CLIENT = re.compile(r"(DCGM_[A-Z0-9_]+)_total")
"""DCGM's own names are all upper or all lower case, so that a client library has added this ending."""


def is_dcgm(name: str) -> bool:
    """Whether a sample name is DCGM's; others on the page are of the exporter's own process."""
    return name[:5] in ("DCGM_", "dcgm_")


@dataclass(frozen=True, slots=True)
class Meaning:
    """What the values of a sample name are."""

    family: Family
    si: bool = False
    """Whether they are in the SI unit."""
    by_spelling: bool = False
    """Whether only those with a decimal point are."""

    def in_si(self, value: int | float) -> bool:
        """Whether `value` is in the SI unit instead of the family's."""
        return self.si and not (self.by_spelling and (isinstance(value, int) or value > 1.01))


class Names:
    """The names that one source has met. What it keeps is bounded, whatever comes."""

    def __init__(self) -> None:
        self._foreign: dict[str, Family] = {}

    def meaning(self, name: str, page: Page) -> Meaning | None:
        """What `name`, one of DCGM's, means; None for a new one beyond MAX_FAMILIES.

        A family that the catalogue lacks keeps its name, and the type and help that the page gave when it first came.
        """
        added = _SPELLED_BY_A_CLIENT.fullmatch(name)
        plain = added[1] if added else name
        family = find(plain)
        in_si = find_si(plain)
        if in_si is not None:
            return Meaning(in_si, si=True, by_spelling=in_si is family)
        if family is None:
            family = self._foreign.get(plain) or self._add(plain, name, page)
        return Meaning(family) if family is not None else None

    def _add(self, name: str, written: str, page: Page) -> Family | None:
        if len(self._foreign) >= MAX_FAMILIES:
            return None
        kind = page.types.get(written, page.types.get(name, ""))
        text = page.helps.get(written, page.helps.get(name, ""))
        self._foreign[name] = Family(
            name=name, type=_TYPES.get(kind, "gauge"), unit="", help=text[:_MAX_HELP] or name, scope="instance",
            page="node", labels=GPU_LABELS, range=(-(2.0**63), 2.0**63),
        )  # fmt: skip
        return self._foreign[name]
