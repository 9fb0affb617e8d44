"""How long the lab takes to be ready, and what it weighs."""

from __future__ import annotations

import os
import shutil
import site
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.labs import ROOT, Server, environment, lab
from benchmarks.row import Row, spread

READY_SECONDS = 3.0
MEMORY_MIB = 120.0
_OURS = ("stepscope", "diagnosis", "exporter", "simulator", "faults")
_FAULT = b'{"kind": "io_starvation", "duration_seconds": 60}'
_PAGES = ("/", "/docs", "/openapi.json", "/metrics", "/metrics/run", "/sd/nodes", "/v1/state", "/v1/step")


def rows(*, quick: bool) -> Iterator[Row]:
    """Start-up and memory of `stepscope lab` at 4 GPUs, and the time of the commands around it."""
    runs = 1 if quick else 7
    cold = [_cold_start(drop=not quick) for _ in range(runs)]
    yield Row(
        "lab ready, from cold", max(cold), "s", below=READY_SECONDS,
        detail="process start to `/readyz` 200, the slowest; before each start the files of Python and of all packages "
        f"are dropped from the page cache, and none of our own code is compiled; {spread(cold, 's')}",
    )  # fmt: skip
    warm = [_start() for _ in range(runs)]
    yield Row("lab ready, again", statistics.median(warm), "s", below=READY_SECONDS, detail=spread(warm, "s"))
    yield _memory(seconds=1.0 if quick else 20.0)
    for name, words in _COMMANDS.items():
        times = [_command(words) for _ in range(runs)]
        yield Row(name, statistics.median(times), "s", detail=spread(times, "s"))


_COMMANDS = {
    "`stepscope --help`": ("-m", "stepscope", "--help"),
    "`import stepscope.api.serve`": ("-c", "import stepscope.api.serve"),
    "`import simulator.headless`": ("-c", "import simulator.headless"),
}


def _start() -> float:
    with lab() as started:
        return started.ready_seconds


def _cold_start(*, drop: bool) -> float:
    with tempfile.TemporaryDirectory() as folder:
        for name in _OURS:
            shutil.copytree(ROOT / name, Path(folder, name), ignore=shutil.ignore_patterns("__pycache__"))
        env = environment(Path(folder)) | {"PYTHONDONTWRITEBYTECODE": "1"}
        if drop:
            os.sync()
            for place in {folder, sysconfig.get_path("stdlib"), *site.getsitepackages()}:
                _drop_from_page_cache(Path(place))
        with lab(env=env) as started:
            return started.ready_seconds


def _drop_from_page_cache(folder: Path) -> None:
    """Ask the kernel to forget the content of all files below, so that the next reader waits for the disk."""
    if not hasattr(os, "posix_fadvise"):
        return
    for path in folder.rglob("*"):
        if path.is_file():
            handle = os.open(path, os.O_RDONLY)
            try:
                os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
            finally:
                os.close(handle)


def _memory(*, seconds: float) -> Row:
    with lab() as started:
        end = time.monotonic() + seconds
        while True:
            _use(started)
            if time.monotonic() >= end:
                break
            time.sleep(0.5)
        peak, now = started.memory_mib("VmHWM"), started.memory_mib("VmRSS")
    return Row(
        "lab memory at 4 GPUs", peak, "MiB", below=MEMORY_MIB,
        detail=f"the most it held while pages, API and a dry run were asked for twice a second for {seconds:.0f} s; "
        f"resident at the end {now:.0f} MiB",
    )  # fmt: skip


def _use(running: Server) -> None:
    for path in _PAGES:
        running.get(path, headers={"Accept-Encoding": "gzip"})
    json = {"Content-Type": "application/json"}
    running.get("/v1/faults/film?dry_run=true", method="PUT", body=_FAULT, headers=json)


def _command(words: tuple[str, ...]) -> float:
    started = time.perf_counter()
    subprocess.run([sys.executable, *words], cwd="/", env=environment(), stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - started
