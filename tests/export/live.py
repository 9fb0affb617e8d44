"""An exporter in a process of its own, on a fake driver or on none."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.request import ProxyHandler, build_opener

ROOT = Path(__file__).parents[2]
FAKE_NVML = ROOT / "tests" / "exporter" / "nvml" / "fakelib"
PATIENCE = 30.0
"""Seconds after which a hung test fails; none passes by waiting for it."""
NOBODY = "http://127.0.0.1:1/metrics"
"""Where no dcgm-exporter is."""


@dataclass(frozen=True, slots=True)
class LiveExporter:
    """One that runs."""

    url: str
    process: subprocess.Popen[str]
    greeting: str

    def get(self, path: str = "/metrics", *, timeout: float = PATIENCE) -> bytes:
        """An answer's body."""
        with build_opener(ProxyHandler({})).open(self.url + path, timeout=timeout) as answer:
            body: bytes = answer.read()
            return body

    def end(self, number: int) -> tuple[int, str]:
        """Send a signal; exit status and what else it wrote to standard error."""
        self.process.send_signal(number)
        status = self.process.wait(PATIENCE)
        assert self.process.stderr is not None
        return status, self.process.stderr.read()


def environment(folder: Path, scenario: Mapping[str, Any] | None = None, **more: str) -> dict[str, str]:
    """Of a process with a driver that follows `scenario`; without one there is no driver."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith("STEPSCOPE_")}
    environ |= {"PYTHONPATH": str(ROOT), "STEPSCOPE_SOCKET": str(folder / "s.sock"), "STEPSCOPE_HOSTNAME": "node-a"}
    environ |= {"STEPSCOPE_DCGM_URL": NOBODY, "STEPSCOPE_PORT": "0"}
    if scenario is not None:
        file = folder / "scenario.json"
        file.write_text(json.dumps(scenario), encoding="utf-8")
        environ |= {"PYTHONPATH": os.pathsep.join((str(FAKE_NVML), str(ROOT))), "STEPSCOPE_FAKE_NVML": str(file)}
    return environ | more


@contextmanager
def running(environ: Mapping[str, str], *command: str) -> Iterator[LiveExporter]:
    """`stepscope …`, by default `stepscope export`, until the block is left; killed unless it has ended."""
    words: Sequence[str] = ("-m", "stepscope", *command) if command[:1] != ("-c",) else command
    process = subprocess.Popen(
        [sys.executable, *(words if command else (*words, "export"))],
        env=dict(environ), cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert process.stderr is not None
        said = ""
        for line in process.stderr:
            said += line
            if found := re.search(r"^stepscope export: http://localhost:(\d+)/metrics", line):
                yield LiveExporter(f"http://127.0.0.1:{found[1]}", process, said)
                return
        raise AssertionError(f"it did not start: {said}")
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()
