"""The real programs that stack tests drive: found, or the test is skipped, or failed where CI says so."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn, TypeVar

import pytest

ROOT = Path(__file__).parents[2]

T = TypeVar("T")


def lacking(reason: str) -> NoReturn:
    """Skips the test for want of something real; fails it under STEPSCOPE_REQUIRE_STACK=1."""
    if os.environ.get("STEPSCOPE_REQUIRE_STACK") == "1":
        pytest.fail(reason)
    pytest.skip(reason)


def need(program: str) -> str:
    """Path of a program on the PATH."""
    path = shutil.which(program)
    if path is None:
        lacking(f"{program} is not on the PATH")
    return path


def free_port() -> int:
    """A TCP port of the loopback address that nothing listens on now."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


def eventually(what: str, probe: Callable[[], T | None], *, within: float, every: float = 0.5) -> T:
    """Asks until the answer is not None; errors of the connection count as no answer yet. Fails after `within` seconds.

    This waits for other processes, on their clock; no test waits a fixed time.
    """
    deadline = time.monotonic() + within
    last: object = None
    while time.monotonic() < deadline:
        try:
            answer = probe()
        except (OSError, AssertionError) as error:
            last = error
        else:
            if answer is not None:
                return answer
        time.sleep(every)
    raise AssertionError(f"not within {within:g} s: {what}; last problem: {last!r}")


def run(*command: str, cwd: Path = ROOT, timeout: float = 120) -> subprocess.CompletedProcess[str]:
    """Runs a program to its end and returns what it said; the caller judges the exit status."""
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=timeout, check=False)
