"""What `stepscope export` weighs, and how fast it answers while a driver hangs. Its driver is the tests' fake NVML."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.labs import ROOT, Server, environment, free_port, server
from benchmarks.row import Row, quantile

MEMORY_MIB = 80.0
ANSWER_MS = 100.0
GPUS = 8
SCRAPERS = 8
_FAKE = ROOT / "tests" / "exporter" / "nvml" / "fakelib"


def rows(*, quick: bool) -> Iterator[Row]:
    """Memory over time with 8 GPUs, CPU per cycle, and latency of `/metrics` with a hung driver."""
    from tests.exporter.nvml.fake import healthy

    seconds = 2 if quick else 60
    boards = {"devices": [healthy(index) for index in range(GPUS)]}
    with _exporter(boards, "--interval", "0.1") as running:
        first, cpu = running.memory_mib("VmRSS"), _cpu_seconds(running)
        seen = _scraped(running, seconds)
        cpu, last = _cpu_seconds(running) - cpu, running.memory_mib("VmRSS")
    size = statistics.median(seen["bytes"]) / 1024
    yield Row(
        "exporter memory, 8 GPUs", last, "MiB", at_most=MEMORY_MIB,
        detail=f"VmRSS after {seconds} s at ten cycles a second and {SCRAPERS} scrapers; {first:.1f} MiB at the start",
    )  # fmt: skip
    yield Row(
        "exporter CPU, 8 GPUs", 1e3 * cpu / (10 * seconds), "ms",
        detail=f"per cycle, {SCRAPERS / 10:g} answers of {size:.1f} KiB (gzip) included",
    )  # fmt: skip
    hanging = {**boards, "blocks": [["nvmlDeviceGetCount", -1]]}
    with _exporter(hanging, "--source", "nvml") as running:
        times = [1e3 * value for value in _scraped(running, seconds)["seconds"]]
    yield Row(
        "`/metrics` while NVML hangs", max(times), "ms", below=ANSWER_MS,
        detail=f"the slowest of {len(times)} answers over {seconds} s in which a call does not return; p50 "
        f"{quantile(times, 0.5):.2f} ms, p99 {quantile(times, 0.99):.2f} ms",
    )  # fmt: skip


@contextmanager
def _exporter(scenario: Mapping[str, Any], *words: str) -> Iterator[Server]:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "scenario.json"
        file.write_text(json.dumps(scenario), encoding="utf-8")
        env = environment() | {"PYTHONPATH": os.pathsep.join((str(_FAKE), str(ROOT))), "STEPSCOPE_FAKE_NVML": str(file)}
        port = free_port()
        own = ("--port", str(port), "--socket", f"{folder}/socket", "--dcgm-url", "http://127.0.0.1:1/metrics")
        command = [sys.executable, "-m", "stepscope", "export", *own, *words]
        with server(command, port=port, ready="/healthz", env=env) as running:
            time.sleep(1.0)  # for the first readings
            yield running


def _scraped(running: Server, seconds: int) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.scrapers", running.url, str(seconds), str(SCRAPERS), "/metrics"]
    done = subprocess.run(command, cwd=ROOT, env=environment(), capture_output=True, check=True)
    seen: dict[str, Any] = json.loads(done.stdout)
    if seen["failures"]:
        raise RuntimeError(f"{seen['failures']} scrapes failed")
    return seen


def _cpu_seconds(running: Server) -> float:
    for line in running.get("/metrics").decode().splitlines():
        if line.startswith("process_cpu_seconds_total "):
            return float(line.split()[1])
    raise RuntimeError("no process_cpu_seconds_total on the page")
