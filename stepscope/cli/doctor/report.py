"""The checks, to read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from stepscope.cli.doctor.check import Check

_MARKS = {"ok": "ok", "warning": "warning", "problem": "PROBLEM", "not applicable": "–"}


def text(checks: Sequence[Check]) -> str:
    """One line for each check, what to do below it, and the sum at the end."""
    names = max(len(check.name) for check in checks)
    marks = max(map(len, _MARKS.values()))
    lines = []
    for check in checks:
        head = f"{_MARKS[check.status]:<{marks}}  {check.name:<{names}}  "
        lines.append(f"{head}{check.found}".rstrip())
        if check.advice:
            lines.append(f"{' ' * (len(head) - 2)}→ {check.advice}")
    return "\n".join([*lines, "", summary(checks)])


def summary(checks: Sequence[Check]) -> str:
    """How many of what."""
    counts = Counter(check.status for check in checks)
    problems, warnings = counts["problem"], counts["warning"]
    told = [
        f"{problems or 'no'} problem{'' if problems == 1 else 's'}",
        f"{warnings or 'no'} warning{'' if warnings == 1 else 's'}",
        f"{counts['ok']} ok",
        f"{counts['not applicable']} not applicable",
    ]
    return ", ".join(told)
