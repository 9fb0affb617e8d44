"""A lab in a process of its own, started the way a user starts it, or on a job that no preset has."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
_PATIENCE_SECONDS = 60.0
_POLL_SECONDS = 0.005
_opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class Server(NamedTuple):
    """A server that is ready."""

    process: subprocess.Popen[bytes]
    url: str
    ready_seconds: float
    """From the start of the process until it answered that it is ready."""

    def get(
        self, path: str, *, method: str = "GET", body: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> bytes:
        """Content of an answer."""
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

    def end(self) -> bytes:
        """Stop it; what it wrote, where that was kept."""
        self.process.terminate()
        out, _ = self.process.communicate(timeout=_PATIENCE_SECONDS)
        return out or b""


def environment(code: Path = ROOT) -> dict[str, str]:
    """This environment without settings of ours, with our packages taken from `code`."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("STEPSCOPE_")}
    return kept | {"PYTHONPATH": str(code)}


def free_port() -> int:
    """A port of the loopback address that nothing has now."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port: int = free.getsockname()[1]
    return port


@contextmanager
def lab(*words: str, env: Mapping[str, str] | None = None) -> Iterator[Server]:
    """`stepscope lab` on a free port, ready; ended afterwards."""
    port = free_port()
    command = [sys.executable, "-m", "stepscope", "lab", "--port", str(port), *words]
    with server(command, port=port, ready="/readyz", env=env) as running:
        yield running


@contextmanager
def server(
    command: Sequence[str], *, port: int, ready: str, env: Mapping[str, str] | None = None, keep_output: bool = False
) -> Iterator[Server]:
    """A process that serves on a port, when the path `ready` answers; ended afterwards."""
    url = f"http://127.0.0.1:{port}"
    out = subprocess.PIPE if keep_output else subprocess.DEVNULL
    started = time.perf_counter()
    process = subprocess.Popen(
        command, cwd="/", env=environment() if env is None else env, stdout=out, stderr=subprocess.DEVNULL
    )
    running = Server(process, url, 0.0)
    try:
        yield running._replace(ready_seconds=_until_ready(process, url + ready, started))
    finally:
        if process.poll() is None:
            running.end()


def _until_ready(process: subprocess.Popen[bytes], url: str, started: float) -> float:
    while True:
        try:
            with _opener.open(url, timeout=_PATIENCE_SECONDS):
                return time.perf_counter() - started
        except (urllib.error.URLError, ConnectionError):
            elapsed = time.perf_counter() - started
            if process.poll() is not None or elapsed > _PATIENCE_SECONDS:
                raise RuntimeError(f"nothing was ready at {url} after {elapsed:.1f} s") from None
        time.sleep(_POLL_SECONDS)
