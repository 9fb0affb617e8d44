"""One thing that was looked at, and what is to be done about it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias, TypeVar

Status: TypeAlias = Literal["ok", "warning", "problem", "not applicable"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Check:
    """The verdict on one thing. Names do not change from version to version; the words in the other fields may."""

    name: str
    status: Status
    found: str
    """What was seen."""
    advice: str = ""
    """What to do; empty when nothing is to be done."""

    def to_mapping(self) -> dict[str, str]:
        """As JSON."""
        return {"name": self.name, "status": self.status, "found": self.found, "advice": self.advice}


@dataclass(frozen=True, slots=True)
class Unknown:
    """In the place of facts that could not be had."""

    why: str


def judged(name: str, facts: T | Unknown, judge: Callable[[T], Iterable[Check]]) -> Iterator[Check]:
    """The checks that `judge` makes of `facts`; one warning in their place when there are none."""
    if isinstance(facts, Unknown):
        yield Check(name, "warning", f"could not be looked at: {facts.why}", "mend what else is wrong, then ask again")
    else:
        yield from judge(facts)


def listed(names: Iterable[object], *, most: int = 4) -> str:
    """Names with commas between them, cut where there are many."""
    words = [str(name) for name in names]
    more = f" and {len(words) - most} more" if len(words) > most else ""
    return ", ".join(words[:most]) + more
