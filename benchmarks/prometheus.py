"""One real Prometheus that scrapes a large lab: does the engine keep its time, and does every scrape succeed?"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import yaml

from benchmarks.labs import ROOT, Server, free_port, server
from benchmarks.row import Row, amount, quantile

RANKS = 1_024
LAG_MS = 100.0
_LAG, _SUCCESS = "128 nodes scraped every 5 s, engine lag", "128 nodes scraped every 5 s, successful scrapes"


def rows(*, quick: bool) -> Iterator[Row]:
    """Lag of the engine and success of the scrapes, with the shipped intervals and rules."""
    program = shutil.which("prometheus")
    if program is None:
        why = "there is no `prometheus` on the PATH"
        yield Row(_LAG, None, "ms", below=LAG_MS, detail=why)
        yield Row(_SUCCESS, None, "%", at_least=100.0, detail=why)
        return
    ranks, interval, seconds = (32, 1.0, 2.0) if quick else (RANKS, 5.0, 90.0)
    port = free_port()
    command = [sys.executable, "-m", "benchmarks.big_lab", str(ranks), str(port)]
    with server(command, port=port, ready="/readyz", keep_output=True) as lab:
        with _prometheus(program, lab, interval) as prometheus:
            nodes = ranks // 8
            _until_all_were_scraped(prometheus, nodes + 1)
            began, cpu = time.time(), _cpu_seconds(lab)
            time.sleep(seconds)
            cpu = (_cpu_seconds(lab) - cpu) / seconds
            scrapes = _scrapes(prometheus, round(seconds))
            memory = lab.memory_mib("VmHWM")
        seen = json.loads(lab.end())
    lags = [1e3 * lag for moment, lag in seen["lags"] if began <= moment <= began + seconds]
    yield Row(
        _LAG, max(lags), "ms", below=LAG_MS,
        detail=f"the worst of {seconds:.0f} s after every target had been scraped once, looked at every 5 ms; in half "
        f"of them at most {amount(quantile(lags, 0.5), 'ms')}, earlier {amount(_worst(seen, began), 'ms')}; "
        f"skipped {seen['skipped_seconds']:.0f} s; the lab took {100 * cpu:.0f} % of a core and {memory:.0f} MiB",
    )  # fmt: skip
    failed = scrapes["all"] - scrapes["successful"]
    yield Row(
        _SUCCESS, 100.0 * scrapes["successful"] / scrapes["all"], "%", at_least=100.0,
        detail=f"{failed:.0f} of {scrapes['all']:,.0f} failed; {nodes} nodes and the run, "
        f"by Prometheus {scrapes['version']} with the shipped rules; slowest {amount(1e3 * scrapes['slowest'], 'ms')}, "
        f"{scrapes['samples']:,.0f} samples a round",
    )  # fmt: skip


@contextmanager
def _prometheus(program: str, lab: Server, interval: float) -> Iterator[Server]:
    """A Prometheus with the shipped configuration, pointed at the lab; ended afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "prometheus.yml").write_text(yaml.safe_dump(_config(lab, interval)), encoding="utf-8")
        port = free_port()
        command = [
            program, f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/data",
            f"--web.listen-address=127.0.0.1:{port}",
        ]  # fmt: skip
        with server(command, port=port, ready="/-/ready") as running:
            yield running


def _config(lab: Server, interval: float) -> dict[str, Any]:
    config: dict[str, Any] = yaml.safe_load((ROOT / "prometheus/prometheus.yml").read_text(encoding="utf-8"))
    (job,) = [job for job in config["scrape_configs"] if job["job_name"] == "stepscope"]
    (discovery,) = job["http_sd_configs"]
    discovery["url"] = f"{lab.url}/sd/nodes"
    every = {"scrape_interval": f"{interval:g}s", "evaluation_interval": f"{interval:g}s"}
    timeout = {"scrape_timeout": f"{min(4.0, interval):g}s"}
    return {
        "global": {**config["global"], **every, **timeout},
        "rule_files": [str(ROOT / "prometheus/rules/*.yml")],
        "scrape_configs": [job],
    }


def _until_all_were_scraped(prometheus: Server, targets: int) -> None:
    end = time.monotonic() + 60.0
    while _value(prometheus, 'count(up{job="stepscope"}) or vector(0)', at=time.time()) < targets:
        if time.monotonic() > end:
            raise RuntimeError(f"Prometheus has not scraped all {targets} targets within a minute")
        time.sleep(0.2)


def _scrapes(prometheus: Server, seconds: int) -> dict[str, Any]:
    # All at one moment, or a scrape would be in one of them and not in another.
    now, over = time.time(), f'{{job="stepscope"}}[{seconds}s]'
    build = json.loads(prometheus.get("/api/v1/status/buildinfo"))["data"]
    return {
        "all": _value(prometheus, f"sum(count_over_time(up{over}))", at=now),
        "successful": _value(prometheus, f"sum(sum_over_time(up{over}))", at=now),
        "slowest": _value(prometheus, f"max(max_over_time(scrape_duration_seconds{over}))", at=now),
        "samples": _value(prometheus, 'sum(scrape_samples_scraped{job="stepscope"})', at=now),
        "version": build["version"],
    }


def _value(prometheus: Server, query: str, *, at: float) -> float:
    answer = json.loads(prometheus.get(f"/api/v1/query?{urlencode({'query': query, 'time': at})}"))
    (sample,) = answer["data"]["result"]
    return float(sample["value"][1])


def _worst(seen: dict[str, Any], until: float) -> float:
    """Greatest lag until a Unix time, in ms; 0 when nobody had looked by then."""
    return max((1e3 * float(lag) for moment, lag in seen["lags"] if moment < until), default=0.0)


def _cpu_seconds(lab: Server) -> float:
    """CPU time that the lab's process has used."""
    fields = Path(f"/proc/{lab.process.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
