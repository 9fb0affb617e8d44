"""A running lab and a running Prometheus, each a process of its own on a free port, stopped when the test is done."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tests.stack.http import Answer, query_string, request
from tests.stack.real import ROOT, eventually, free_port, need


@dataclass(frozen=True, slots=True)
class Lab:
    """A lab and its REST interface."""

    url: str

    @property
    def address(self) -> str:
        """host:port"""
        return self.url.removeprefix("http://")

    def get(self, path: str) -> Any:
        """The JSON behind a path that must answer 200."""
        answer = request(self.url + path)
        assert answer.status == 200, f"{path}: {answer.status} {answer.text}"
        return answer.json

    def state(self) -> Any:
        """`GET /v1/state`."""
        return self.get("/v1/state")

    def put_fault(self, name: str, **spec: object) -> Any:
        """`PUT /v1/faults/{name}`, which must be accepted."""
        answer = request(f"{self.url}/v1/faults/{name}", method="PUT", json_body=spec)
        assert answer.status in (200, 201), answer.text
        return answer.json

    def clear_fault(self, name: str) -> None:
        """`DELETE /v1/faults/{name}`, which must be accepted."""
        answer = request(f"{self.url}/v1/faults/{name}", method="DELETE")
        assert answer.status == 204, answer.text

    def reset(self) -> None:
        """`POST /v1/reset`: no faults, and the model as of its last good checkpoint."""
        answer = request(f"{self.url}/v1/reset", method="POST")
        assert answer.status in (200, 204), answer.text

    def page(self, path: str, **headers: str) -> Answer:
        """A metrics page."""
        return request(self.url + path, headers=headers)


@dataclass(frozen=True, slots=True)
class Prometheus:
    """A Prometheus and its query interface."""

    url: str

    def answer(self, path: str, **values: str | float) -> Any:
        """The whole answer of an API call that must succeed."""
        answer = request(f"{self.url}/api/v1/{path}?{query_string(**values)}")
        assert answer.status == 200, f"{path} {values}: {answer.text}"
        assert answer.json["status"] == "success", answer.text
        return answer.json

    def api(self, path: str, **values: str | float) -> Any:
        """Its `data`."""
        return self.answer(path, **values)["data"]

    def vector(self, expr: str, *, at: float | None = None) -> dict[tuple[tuple[str, str], ...], float]:
        """Value by labels, `__name__` left out, now or at a Unix time."""
        data = self.api("query", query=expr, **({} if at is None else {"time": at}))
        assert data["resultType"] == "vector", data
        return {_labels(sample["metric"]): float(sample["value"][1]) for sample in data["result"]}

    def value(self, expr: str, *, at: float | None = None) -> float:
        """The value of a query that must have exactly one."""
        values = list(self.vector(expr, at=at).values())
        assert len(values) == 1, f"{expr} has {len(values)} values"
        return values[0]

    def samples(self, selector: str, *, at: float, seconds: int) -> list[tuple[float, float]]:
        """The raw samples of one series, as time and value, over the seconds up to a Unix time."""
        data = self.api("query", query=f"{selector}[{seconds}s]", time=at)
        (series,) = data["result"]
        return [(moment, float(value)) for moment, value in series["values"]]

    def targets(self) -> dict[tuple[str, str], dict[str, Any]]:
        """Active targets by job and instance."""
        found = self.api("targets", state="active")["activeTargets"]
        return {(target["labels"]["job"], target["labels"]["instance"]): target for target in found}


def _labels(metric: dict[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted((name, value) for name, value in metric.items() if name != "__name__"))


@contextmanager
def running_lab(log: Path, *arguments: str) -> Iterator[Lab]:
    """`stepscope lab` until the block ends; it must have become ready, and must leave with exit status 0."""
    port = free_port()
    command = (sys.executable, "-m", "stepscope", "lab", "--port", str(port), *arguments)
    lab = Lab(f"http://127.0.0.1:{port}")
    with _running(command, log, "lab", probe=f"{lab.url}/readyz") as process:
        yield lab
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=15) == 0, log.read_text()


@contextmanager
def running_prometheus(folder: Path, config: dict[str, Any]) -> Iterator[Prometheus]:
    """A Prometheus with this configuration and the repository's rules until the block ends."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "prometheus.yml").write_text(yaml.safe_dump(config))
    port = free_port()
    prometheus = Prometheus(f"http://127.0.0.1:{port}")
    command = (
        need("prometheus"),
        f"--config.file={folder / 'prometheus.yml'}",
        f"--storage.tsdb.path={folder / 'data'}",
        f"--web.listen-address=127.0.0.1:{port}",
    )
    with _running(command, folder / "prometheus.log", "Prometheus", probe=f"{prometheus.url}/-/ready"):
        yield prometheus


def shipped_config(**labs: Lab) -> dict[str, Any]:
    """prometheus/prometheus.yml with one job per lab instead of the job of the compose network."""
    config: dict[str, Any] = yaml.safe_load((ROOT / "prometheus" / "prometheus.yml").read_text())
    config["rule_files"] = [str(ROOT / "prometheus" / "rules" / "*.yml")]
    shipped = next(job for job in config["scrape_configs"] if job["job_name"] == "stepscope")
    config["scrape_configs"] = [job_for(name, lab, shipped) for name, lab in labs.items()]
    return config


def job_for(name: str, lab: Lab, shipped: dict[str, Any]) -> dict[str, Any]:
    """The shipped job, pointed at a lab."""
    (discovery,) = shipped["http_sd_configs"]
    discovery = {**discovery, "url": f"{lab.url}/sd/nodes"}
    return {**shipped, "job_name": name, "http_sd_configs": [discovery]}


@contextmanager
def _running(command: tuple[str, ...], log: Path, what: str, *, probe: str) -> Iterator[subprocess.Popen[bytes]]:
    def ready() -> bool | None:
        if process.poll() is not None:
            raise RuntimeError(f"{what} left with {process.returncode}: {log.read_text()}")
        return request(probe).status == 200 or None

    with log.open("wb") as output:
        process = subprocess.Popen(command, cwd=ROOT, stdout=output, stderr=subprocess.STDOUT)
        try:
            eventually(f"{what} is ready", ready, within=60, every=0.1)
            yield process
        finally:
            process.terminate()
            try:
                process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
