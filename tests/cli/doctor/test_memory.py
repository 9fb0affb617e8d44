"""Memory of a machine, and of a container with a limit."""

from __future__ import annotations

from pathlib import Path

import pytest

from stepscope.cli.doctor import memory
from stepscope.cli.doctor.memory import Memory, judge, look

MIB = 2**20


def machine(root: Path, **files: str) -> Path:
    """Files below `root`; `__` in a name stands for a slash."""
    for name, text in files.items():
        path = root / name.replace("__", "/").replace("_dot_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="ascii")
    return root


MEMINFO = "MemTotal:       8192 kB\nMemAvailable:   4096 kB\n"


def test_what_is_free(tmp_path: Path) -> None:
    assert look(machine(tmp_path, proc__meminfo=MEMINFO)) == Memory(4 * MIB)


@pytest.mark.parametrize(
    ("limit", "free"),
    [("3145728", Memory(3 * MIB - 1000 + 200, limited=True)), ("max", Memory(4 * MIB)), ("99999999", Memory(4 * MIB))],
)
def test_a_limit_of_a_container(tmp_path: Path, limit: str, free: Memory) -> None:
    root = machine(
        tmp_path, proc__meminfo=MEMINFO, sys__fs__cgroup__memory_dot_max=f"{limit}\n",
        sys__fs__cgroup__memory_dot_current="1000\n", sys__fs__cgroup__memory_dot_stat="anon 5\ninactive_file 200\n",
    )  # fmt: skip
    assert look(root) == free


def test_a_limit_of_the_older_kind(tmp_path: Path) -> None:
    root = machine(
        tmp_path, proc__meminfo=MEMINFO, sys__fs__cgroup__memory__memory_dot_limit_in_bytes="2000",
        sys__fs__cgroup__memory__memory_dot_usage_in_bytes="2500",
    )  # fmt: skip
    assert look(root) == Memory(0, limited=True)


def test_a_system_that_does_not_say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "_all_of_it", lambda: None)
    assert look(tmp_path) == Memory(None)


def test_this_machine() -> None:
    assert (look().free_bytes or 1) > 0


@pytest.mark.parametrize(
    ("free", "status", "said"),
    [
        (Memory(4 * 2**30), "ok", "4,096 MiB free"),
        (Memory(500 * MIB), "warning", "enough for a lab of a small job"),
        (Memory(149 * MIB), "problem", "the lab needs about 150 MiB"),
        (Memory(149 * MIB, limited=True), "problem", "149 MiB left under the limit of this container"),
        (Memory(None), "not applicable", "does not say"),
    ],
)
def test_verdicts(free: Memory, status: str, said: str) -> None:
    (check,) = judge(free)
    assert (check.name, check.status) == ("memory", status)
    assert said in f"{check.found} {check.advice}"
