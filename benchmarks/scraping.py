"""How fast a node page is answered while the engine runs."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from collections.abc import Iterator

from benchmarks.labs import ROOT, environment, lab
from benchmarks.row import Row, quantile

PRESET = "anatomy-32gpu"
"""Its nodes have 8 GPUs each."""
SCRAPERS = 32
P99_MS = 15.0


def rows(*, quick: bool) -> Iterator[Row]:
    """Latency of node pages under 32 scrapers at one request a second each, from another process."""
    seconds = 2 if quick else 60
    with lab("--preset", PRESET) as running:
        pages = [group["labels"]["__metrics_path__"] for group in json.loads(running.get("/sd/nodes"))]
        nodes = [page for page in pages if "/nodes/" in page]
        command = [sys.executable, "-m", "benchmarks.scrapers", running.url, str(seconds), str(SCRAPERS), *nodes]
        done = subprocess.run(command, cwd=ROOT, env=environment(), capture_output=True, check=True)
        state = json.loads(running.get("/v1/state"))["position"]
    seen = json.loads(done.stdout)
    if seen["failures"]:
        raise RuntimeError(f"{seen['failures']} scrapes failed")
    times = [1e3 * value for value in seen["seconds"]]
    detail = (
        f"{PRESET}, {SCRAPERS} scrapers over {len(nodes)} node pages for {seconds} s, gzip: {len(times)} answers of "
        f"{statistics.median(seen['bytes']) / 1024:.1f} KiB, slowest {max(times):.1f} ms; the engine skipped "
        f"{state['skipped_seconds']:.0f} s"
    )
    yield Row("node page of 8 GPUs, p99", quantile(times, 0.99), "ms", below=P99_MS, detail=detail)
    yield Row("node page of 8 GPUs, p50", quantile(times, 0.5), "ms")
