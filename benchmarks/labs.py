"""A lab in a process of its own, started the way a user starts it."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
_PATIENCE_SECONDS = 60.0
_POLL_SECONDS = 0.005
_opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class Lab(NamedTuple):
    """A lab that is ready."""

    process: subprocess.Popen[bytes]
    url: str
    ready_seconds: float
    """From the start of the process until `/readyz` answered 200."""

    def get(
        self, path: str, *, method: str = "GET", body: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> bytes:
        """Content of an answer of the lab."""
        request = urllib.request.Request(self.url + path, method=method, data=body, headers=dict(headers or {}))
        with _opener.open(request, timeout=_PATIENCE_SECONDS) as response:
            content: bytes = response.read()
        return content

    def memory_mib(self, field: str) -> float:
        """A field of the process' status in MiB: VmRSS is what it holds, VmHWM the most it has held."""
        status = Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii")
        found = re.search(rf"^{field}:\s+(\d+) kB$", status, re.MULTILINE)
        assert found, f"no {field} in the process' status"
        return int(found[1]) / 1024


def environment(code: Path = ROOT) -> dict[str, str]:
    """This environment without settings of ours, with our packages taken from `code`."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("STEPSCOPE_")}
    return kept | {"PYTHONPATH": str(code)}


@contextmanager
def lab(*words: str, env: Mapping[str, str] | None = None) -> Iterator[Lab]:
    """`stepscope lab` on a free port, ready; ended afterwards."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "stepscope", "lab", "--port", str(port), *words]
    env = environment() if env is None else env
    url = f"http://127.0.0.1:{port}"
    started = time.perf_counter()
    process = subprocess.Popen(command, cwd="/", env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield Lab(process, url, _until_ready(process, url, started))
    finally:
        process.terminate()
        process.wait(timeout=_PATIENCE_SECONDS)


def _until_ready(process: subprocess.Popen[bytes], url: str, started: float) -> float:
    while True:
        try:
            with _opener.open(f"{url}/readyz", timeout=_PATIENCE_SECONDS):
                return time.perf_counter() - started
        except (urllib.error.URLError, ConnectionError):
            elapsed = time.perf_counter() - started
            if process.poll() is not None or elapsed > _PATIENCE_SECONDS:
                raise RuntimeError(f"the lab was not ready after {elapsed:.1f} s") from None
        time.sleep(_POLL_SECONDS)
