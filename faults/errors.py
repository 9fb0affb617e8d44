"""How this package says no: every problem at once, each by JSON pointer."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Code = Literal["invalid", "unsupported", "limit", "over"]


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong with a request."""

    pointer: str
    """JSON pointer (RFC 6901) into the request; empty for the whole of it."""
    detail: str
    """What would be right, in one line that names the valid values."""

    def __str__(self) -> str:
        key = self.pointer.removeprefix("/").replace("/", ".").replace("~1", "/").replace("~0", "~")
        key = "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in key)
        return f"{key}: {self.detail}" if key else self.detail


class FaultError(ValueError):
    """A fault that cannot be had, with all the reasons. `str()` is one line."""

    def __init__(self, problems: Iterable[Problem], *, code: Code = "invalid") -> None:
        self.problems = tuple(problems)
        self.code: Code = code
        """`invalid`: malformed or out of range; `unsupported`: this job cannot show it; `limit`: too many at once;
        `over`: too late for it, as the fault stands."""
        super().__init__("; ".join(str(problem) for problem in self.problems))

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuilt, (self.problems, self.code)

    @classmethod
    def at(cls, pointer: str, detail: str, *, code: Code = "invalid") -> FaultError:
        """The error for a single problem."""
        return cls([Problem(pointer, detail)], code=code)

    def below(self, pointer: str) -> FaultError:
        """The same of a part of something: every place is below `pointer`."""
        problems = [Problem(pointer + problem.pointer, problem.detail) for problem in self.problems]
        return FaultError(problems, code=self.code)


def _rebuilt(problems: tuple[Problem, ...], code: Code) -> FaultError:
    """For pickling and copying, which call with positional arguments."""
    return FaultError(problems, code=code)


def pointer_to(parent: str, key: str) -> str:
    """JSON pointer of `key` inside `parent`, escaped, encodable as UTF-8 and of bounded length."""
    safe = key[:80].encode("utf-8", "backslashreplace").decode("utf-8")
    return f"{parent}/{safe.replace('~', '~0').replace('/', '~1')}"
