"""A real training job, the exporter of its node, and a Prometheus that scrapes it every second."""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.stack.http import request
from tests.stack.real import ROOT, eventually, free_port, lacking
from tests.stack.servers import Prometheus, running_prometheus

EXAMPLE = ROOT / "examples" / "train_ddp.py"
RANKS = 4
PEAK_FLOPS = 2e10
"""Of one rank, as the job is told. A CPU has no such peak: a made-up one makes MFU a number that can be checked."""


def need_torch() -> None:
    """The job needs PyTorch in this Python."""
    if importlib.util.find_spec("torch") is None:
        lacking("torch is not installed: pip install 'stepscope[job]'")


@dataclass(slots=True)
class Exporter:
    """`stepscope export --source job` on a port and a socket of its own; may be killed and started again."""

    folder: Path
    port: int = field(default_factory=free_port)
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """Where its page is."""
        return f"http://127.0.0.1:{self.port}/metrics"

    @property
    def socket(self) -> str:
        """Where recorders find it."""
        return str(self.folder / "recorder.sock")

    def start(self) -> None:
        """Start it and wait until it answers."""
        command = (
            sys.executable, "-m", "stepscope", "export", "--source", "job", "--port", str(self.port),
            "--socket", self.socket, "--hostname", "trainer",
        )  # fmt: skip
        with (self.folder / "exporter.log").open("ab") as log:
            self.process = subprocess.Popen(command, cwd=ROOT, stdout=log, stderr=subprocess.STDOUT)
        eventually("the exporter answers", lambda: self.page() or None, within=60, every=0.1)

    def page(self) -> str:
        """What it says now."""
        assert self.process is not None
        assert self.process.poll() is None, (self.folder / "exporter.log").read_text()
        answer = request(self.url)
        assert answer.status == 200
        return answer.text

    def kill(self) -> None:
        """End it without a farewell."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()


@dataclass(frozen=True, slots=True)
class Job:
    """The example, running."""

    run: str
    process: subprocess.Popen[str]
    pids: dict[int, int]
    """Process of each rank."""
    said: list[dict[str, Any]]
    """What rank 0 said after each step, as it says it: step, time, loss, grad_norm."""

    def kill(self) -> None:
        """End every process without a farewell."""
        for pid in self.pids.values():
            _signal(pid, signal.SIGKILL)
        self.process.kill()
        self.process.wait()

    def waits_for_steps(self, count: int, *, within: float = 120) -> None:
        """Until so many steps are done."""

        def done() -> bool | None:
            assert self.process.poll() in (None, 0), "the job failed"
            return len(self.said) >= count or None

        eventually(f"{self.run} has done {count} steps", done, within=within, every=0.2)

    def ends(self, *, within: float = 120) -> None:
        """Until it has ended by itself, without an error."""
        assert self.process.wait(timeout=within) == 0


@contextmanager
def running_job(exporter: Exporter, run: str, *options: str) -> Iterator[Job]:
    """The example until the block ends, its first step done."""
    environ = {**os.environ, "STEPSCOPE_SOCKET": exporter.socket, "PYTHONPATH": str(ROOT)}
    command = (sys.executable, str(EXAMPLE), "--run", run, "--peak-flops", str(PEAK_FLOPS), *options)
    with (exporter.folder / f"{run}.log").open("wb") as log:
        process = subprocess.Popen(command, cwd=ROOT, env=environ, stdout=subprocess.PIPE, stderr=log, text=True)
    job = Job(run, process, {}, [])
    reader = threading.Thread(target=_read, args=(job,), daemon=True)
    reader.start()
    try:
        job.waits_for_steps(1)
        yield job
    finally:
        job.kill()
        reader.join(timeout=10)
        assert process.stdout is not None
        process.stdout.close()


@contextmanager
def stop_and_go(pid: int, *, seconds: float) -> Iterator[None]:
    """Stops a process and lets it go on in turn, so many seconds each: half a processor, whatever else runs."""
    over = threading.Event()

    def turns() -> None:
        while not over.is_set():
            _signal(pid, signal.SIGSTOP)
            over.wait(seconds)
            _signal(pid, signal.SIGCONT)
            over.wait(seconds)

    thread = threading.Thread(target=turns, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join(timeout=10)
        _signal(pid, signal.SIGCONT)


@contextmanager
def scraping(exporter: Exporter) -> Iterator[Prometheus]:
    """A Prometheus with the shipped rules that scrapes the exporter, and evaluates, every second."""
    config = {
        "global": {"scrape_interval": "1s", "scrape_timeout": "1s", "evaluation_interval": "1s"},
        "rule_files": [str(ROOT / "prometheus" / "rules" / "*.yml")],
        "scrape_configs": [
            {"job_name": "trainer", "static_configs": [{"targets": [f"127.0.0.1:{exporter.port}"]}]},
        ],
    }
    with running_prometheus(exporter.folder / "prometheus", config) as prometheus:
        yield prometheus


def rule_expression(prometheus: Prometheus, record: str) -> str:
    """The query of a recording rule, as this Prometheus has it."""
    rules = (rule for group in prometheus.api("rules")["groups"] for rule in group["rules"])
    expression: str = next(rule["query"] for rule in rules if rule["name"] == record)
    return expression


def _read(job: Job) -> None:
    assert job.process.stdout is not None
    for line in job.process.stdout:
        said = json.loads(line)
        if "pid" in said:
            job.pids[said["rank"]] = said["pid"]
        else:
            job.said.append(said)


def _signal(pid: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, number)
