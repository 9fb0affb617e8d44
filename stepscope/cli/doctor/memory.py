"""Is there memory for the lab, and for the servers beside it?"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from stepscope.cli.doctor.check import Check

LAB_BYTES = 150 * 2**20
STACK_BYTES = 2**30
_CGROUPS = (
    ("sys/fs/cgroup/memory.max", "sys/fs/cgroup/memory.current", "sys/fs/cgroup/memory.stat", "inactive_file"),
    (
        "sys/fs/cgroup/memory/memory.limit_in_bytes", "sys/fs/cgroup/memory/memory.usage_in_bytes",
        "sys/fs/cgroup/memory/memory.stat", "total_inactive_file",
    ),
)  # fmt: skip
"""Limit, use, and where to find how much of the use can be given back; version 2 and version 1."""


@dataclass(frozen=True, slots=True)
class Memory:
    """What a new process may have."""

    free_bytes: int | None
    """None where the system does not say."""
    limited: bool = False
    """Whether a limit on this container or session is what counts, not the machine."""


def look(root: Path = Path("/")) -> Memory:
    """At this machine, or at the files below `root`."""
    machine = _field(root / "proc/meminfo", "MemAvailable:")
    free = machine * 1024 if machine is not None else _all_of_it()
    inside = [left for left in (_left(root, *names) for names in _CGROUPS) if left is not None]
    if inside and (free is None or min(inside) < free):
        return Memory(min(inside), limited=True)
    return Memory(free)


def judge(memory: Memory) -> Iterator[Check]:
    """Check `memory`."""
    if memory.free_bytes is None:
        yield Check("memory", "not applicable", "this system does not say how much is free")
        return
    where = "left under the limit of this container" if memory.limited else "free"
    found = f"{memory.free_bytes / 2**20:,.0f} MiB {where}"
    if memory.free_bytes < LAB_BYTES:
        advice = f"the lab needs about {LAB_BYTES // 2**20} MiB: end something, or raise the limit"
        yield Check("memory", "problem", found, advice)
    elif memory.free_bytes < STACK_BYTES:
        advice = "enough for a lab of a small job; Prometheus, Grafana and fleet-131072 want about 1 GiB each"
        yield Check("memory", "warning", found, advice)
    else:
        yield Check("memory", "ok", found)


def _left(root: Path, limit_file: str, use_file: str, stat_file: str, reclaimable: str) -> int | None:
    limit, use = _number(root / limit_file), _number(root / use_file)
    if limit is None or use is None:
        return None
    return max(0, limit - use + (_field(root / stat_file, reclaimable) or 0))


def _number(path: Path) -> int | None:
    text = _text(path).strip()
    return int(text) if text.isdigit() else None


def _field(path: Path, name: str) -> int | None:
    for line in _text(path).splitlines():
        words = line.split()
        if len(words) > 1 and words[0] == name and words[1].isdigit():
            return int(words[1])
    return None


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii", errors="replace")
    except OSError:
        return ""


def _all_of_it() -> int | None:
    """All memory of the machine, where nobody says how much of it is free."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None
