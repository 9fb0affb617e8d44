"""What the step recorder costs the thread that trains, and what it keeps."""

from __future__ import annotations

import json
import resource
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from benchmarks.labs import ROOT
from benchmarks.row import Row, spread
from stepscope.recorder import StepRecorder
from stepscope.recorder.books import RECORDED

AT_MOST_MICROSECONDS = 20.0
AT_MOST_MIB = 1.0
_BATCH = 10_000


def rows(*, quick: bool) -> Iterator[Row]:
    """A step with eight phases while the recorder reports, and the growth over a million of them."""
    steps = 20_000 if quick else 1_000_000
    child = [sys.executable, "-m", "benchmarks.recording", str(steps)]
    done = subprocess.run(child, cwd=ROOT, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    costs = found["microseconds"]
    detail = (
        f"CPU path, processor time of the training thread, {found['reports']} reports sent meanwhile, "
        f"{_BATCH:,} steps a run; {spread(costs, 'µs')}"
    )
    yield Row(
        "recorder, a step with 8 phases",
        statistics.median(costs),
        "µs",
        at_most=AT_MOST_MICROSECONDS,
        detail=detail,
    )
    yield Row(
        f"recorder, growth over {steps:,} steps",
        max(0.0, found["grown_mib"]),
        "MiB",
        at_most=AT_MOST_MIB,
        detail=f"resident memory after the first {_BATCH:,} steps and at the end, loss and gradient norm logged",
    )


def _child(steps: int) -> None:
    """A process of its own: nothing else grows in it."""
    with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
        listener.setblocking(False)
        listener.bind(path := str(Path(folder) / "recorder.sock"))
        with StepRecorder(run="benchmark", tokens_per_step=1, params=1.0, socket=path) as rec:
            _batch(rec)
            before, costs, reports = _resident_mib(), [], 0
            for _ in range(steps // _BATCH):
                costs.append(_batch(rec))
                reports += _drained(listener)
            grown = _resident_mib() - before
    print(json.dumps({"microseconds": costs, "grown_mib": grown, "reports": reports}))


def _batch(rec: StepRecorder) -> float:
    """Microseconds of a step: processor time of this thread, whatever else the machine does."""
    began = time.thread_time()
    for _ in range(_BATCH):
        with rec.step():
            for name in RECORDED:
                with rec.phase(name):
                    pass
    took = time.thread_time() - began
    for _ in range(_BATCH):
        rec.log(loss=1.0, grad_norm=1.0)
    return 1e6 * took / _BATCH


def _drained(listener: socket.socket) -> int:
    """Reports that have arrived."""
    count = 0
    with suppress(BlockingIOError):
        while listener.recv(65_536):
            count += 1
    return count


def _resident_mib() -> float:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * resource.getpagesize() / 2**20


if __name__ == "__main__":
    _child(int(sys.argv[1]))
