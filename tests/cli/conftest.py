"""A command in this process, a lab in one of its own, and servers that are no lab."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import NamedTuple, TypeAlias

import pytest

from stepscope.__main__ import main

ROOT = Path(__file__).parents[2]
TOKEN = "a-token-for-tests"


class Outcome(NamedTuple):
    """What a command did."""

    status: int
    out: str
    err: str


class Running(NamedTuple):
    """A lab that runs."""

    process: subprocess.Popen[str]
    url: str
    greeting: str
    """Its first line on standard error."""

    def end(self, number: signal.Signals = signal.SIGTERM) -> Outcome:
        """Stop it, and what it said in all."""
        self.process.send_signal(number)
        # Not communicate(): it would miss what was read ahead with the greeting.
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        out, err = self.process.stdout.read(), self.greeting + self.process.stderr.read()
        return Outcome(self.process.wait(timeout=60), out, err)


Command: TypeAlias = Callable[..., Outcome]


@pytest.fixture(autouse=True)
def _no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith("STEPSCOPE_"):
            monkeypatch.delenv(name)


@pytest.fixture
def stepscope(capsys: pytest.CaptureFixture[str]) -> Command:
    """Run a command in this process."""

    def run(*words: str) -> Outcome:
        capsys.readouterr()
        status = main(words)
        return Outcome(status, *capsys.readouterr())

    return run


def environment(**more: str) -> dict[str, str]:
    """This process' environment without settings of ours, and with `more`."""
    return {name: value for name, value in os.environ.items() if not name.startswith("STEPSCOPE_")} | more


def python(*words: str, env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Run `python …` at the top of the repository to its end."""
    return subprocess.run(
        [sys.executable, *words], cwd=ROOT, env=env or environment(), capture_output=True, text=True, timeout=120,
        check=False,
    )  # fmt: skip


@contextmanager
def running_lab(*words: str) -> Iterator[Running]:
    """`stepscope lab` on a free port; killed at the end unless it has ended."""
    command = [sys.executable, "-m", "stepscope", "lab", "--port", "0", *words]
    process = subprocess.Popen(
        command, cwd=ROOT, env=environment(), text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    try:
        assert process.stdout is not None
        assert process.stderr is not None
        line = process.stderr.readline()
        found = re.search(r"http://localhost:(\d+)/", line)
        assert found, line + process.stderr.read()
        yield Running(process, f"http://127.0.0.1:{found[1]}", line)
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


@pytest.fixture(scope="session")
def lab_url() -> Iterator[str]:
    """Address of a lab that runs `workshop-4gpu`."""
    with running_lab("--token", TOKEN) as lab:
        yield lab.url


@pytest.fixture
def lab(lab_url: str, stepscope: Command, monkeypatch: pytest.MonkeyPatch) -> Command:
    """Run a command against a lab without faults."""
    monkeypatch.setenv("STEPSCOPE_URL", lab_url)
    assert stepscope("fault", "reset").status == 0
    return stepscope


class Answer(NamedTuple):
    """What a fake server answers with."""

    status: int
    media_type: str
    body: bytes
    headers: Mapping[str, str] = {}


@pytest.fixture
def serving() -> Iterator[Callable[[Answer], str]]:
    """Start a server that gives one answer to everything; its address."""
    servers: list[ThreadingHTTPServer] = []

    def start(answer: Answer) -> str:
        server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(answer))
        servers.append(server)
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        return f"http://127.0.0.1:{server.server_address[1]}"

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def _handler(answer: Answer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def handle_any(self) -> None:
            self.rfile.read(int(self.headers.get("content-length", 0)))
            self.send_response(answer.status)
            for name, value in {"Content-Type": answer.media_type, **answer.headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(answer.body)))
            self.end_headers()
            self.wfile.write(answer.body)

        do_GET = do_PUT = do_POST = do_DELETE = handle_any

        def log_message(self, *_: object) -> None:
            pass

    return Handler
