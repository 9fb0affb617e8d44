"""A lab of its own in a process of its own, on a free port."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
TOKEN = "a-token-for-tests"


@dataclass(frozen=True, slots=True)
class LiveLab:
    """A running lab."""

    url: str
    process: subprocess.Popen[str]


@contextmanager
def running(*arguments: str, open_files: int | None = None) -> Iterator[LiveLab]:
    """`stepscope lab` until the block is left; it is killed if it does not leave by itself.

    `open_files` is what its process may have open at once.
    """
    command = [sys.executable, "-m", "stepscope", "lab", "--port", "0", *arguments]
    if open_files is not None:
        command = ["sh", "-c", f'ulimit -n {open_files} && exec "$@"', "sh", *command]
    environ = {name: value for name, value in os.environ.items() if not name.startswith("STEPSCOPE_")}
    environ |= {"STEPSCOPE_TOKEN": TOKEN, "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(command, env=environ, cwd=ROOT, stderr=subprocess.PIPE, text=True)
    try:
        yield LiveLab(_url(process), process)
    finally:
        process.terminate()
        try:
            process.communicate(timeout=10)
        finally:
            process.kill()
            process.wait()


def _url(process: subprocess.Popen[str]) -> str:
    assert process.stderr is not None
    lines = []
    for line in process.stderr:
        lines.append(line)
        if found := re.search(r"http://\S+?:\d+", line):
            return found.group().replace("localhost", "127.0.0.1")
    raise AssertionError("the lab did not start: " + "".join(lines))
