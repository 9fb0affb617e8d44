"""Is this the Python that the lab needs, and has it the packages?"""

from __future__ import annotations

import platform
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec

from stepscope.cli.doctor.check import Check, listed
from stepscope.cli.extras import GPU_PACKAGES, LAB_PACKAGES

OLDEST = (3, 11)


@dataclass(frozen=True, slots=True)
class Python:
    """The interpreter and what it can import."""

    version: tuple[int, int, int]
    implementation: str
    missing: tuple[str, ...]
    """Packages of the extra `lab` that are not there."""
    exports: bool = False
    """Whether all of the extra `gpu` are there: `stepscope export` needs no lab."""


def look(has: Callable[[str], object] = find_spec) -> Python:
    """At this interpreter; `has` says whether a package can be imported, without importing it."""
    missing = tuple(name for name in LAB_PACKAGES if not has(name))
    exports = all(has(name) for name in GPU_PACKAGES)
    return Python(sys.version_info[:3], platform.python_implementation(), missing, exports)


def judge(python: Python) -> Iterator[Check]:
    """Checks `python` and `packages`."""
    found = f"{python.implementation} {'.'.join(map(str, python.version))}"
    if python.version < OLDEST:
        oldest = ".".join(map(str, OLDEST))
        yield Check("python", "problem", found, f"use Python {oldest} or newer: make setup PYTHON=python{oldest}")
    else:
        yield Check("python", "ok", found)
    if python.missing and python.exports:
        lacking = f"of the lab's, which `make setup` brings, not {listed(python.missing)}"
        yield Check("packages", "ok", f"all that stepscope export needs; {lacking}")
    elif python.missing:
        found = f"not installed: {listed(python.missing)}"
        yield Check("packages", "problem", found, "make setup in the repository")
    else:
        yield Check("packages", "ok", "all that the lab needs")
