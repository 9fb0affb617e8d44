"""The compose stack on a real engine, under a name and on ports of its own."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import yaml

from tests.stack.real import ROOT, free_port, lacking, need, run
from tests.stack.servers import Lab, Prometheus

SERVICES = ("simulator", "prometheus")
"""What can be built or pulled anywhere; the services of other images are validated, not started."""
PORTS = ("LAB", "PROMETHEUS", "GRAFANA", "ALERTMANAGER", "ANSWERS", "GRAFANA_ANSWERS")
IMAGE = "stepscope:test"
TOKEN_FILE = "/var/lib/stepscope/token"


@dataclass(frozen=True, slots=True)
class Stack:
    """A compose project of this name with these variables."""

    project: str
    environment: dict[str, str]

    @property
    def lab(self) -> Lab:
        """The lab at its published port."""
        return Lab(f"http://{self.environment['BIND']}:{self.environment['LAB_PORT']}")

    @property
    def prometheus(self) -> Prometheus:
        """Prometheus at its published port."""
        return Prometheus(f"http://127.0.0.1:{self.environment['PROMETHEUS_PORT']}")

    @property
    def answers(self) -> Prometheus:
        """The Prometheus of the profile `answers`."""
        return Prometheus(f"http://127.0.0.1:{self.environment['ANSWERS_PORT']}")

    def run(self, *command: str, timeout: float = 300) -> subprocess.CompletedProcess[str]:
        """A program at the top of the repository with the project's variables."""
        return subprocess.run(
            command, cwd=ROOT, env=plain() | self.environment, capture_output=True, text=True, timeout=timeout,
            check=False,
        )  # fmt: skip

    def compose(self, *words: str, timeout: float = 300) -> subprocess.CompletedProcess[str]:
        """`docker compose` on this project."""
        return self.run("docker", "compose", *words, timeout=timeout)

    def up(self, *services: str) -> None:
        """Starts services and returns when all are healthy, which must be so."""
        done = self.compose("up", "--detach", "--wait", "--wait-timeout", "120", *services)
        assert done.returncode == 0, done.stderr + self.compose("logs", "--no-color").stdout

    def inspect(self, service: str) -> dict[str, Any]:
        """What the engine says of the service's container."""
        container = self.compose("ps", "--all", "--quiet", service).stdout.strip()
        (found,) = json.loads(run("docker", "inspect", container).stdout)
        assert isinstance(found, dict)
        return found

    def token(self) -> str:
        """The lab's token."""
        done = self.compose("exec", "--no-TTY", "simulator", "cat", TOKEN_FILE)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()


@contextmanager
def composed(name: str, **variables: str) -> Iterator[Stack]:
    """A project with the lab's image built and nothing started; whatever is left of it at the end is removed."""
    need("docker")
    if run("docker", "info").returncode != 0 or run("docker", "compose", "version").returncode != 0:
        lacking("no Docker engine with Compose v2 answers")
    project = f"stepscope-test-{name}-{os.getpid()}"
    ports = {f"{service}_PORT": str(free_port()) for service in PORTS}
    own = {"COMPOSE_PROJECT_NAME": project, "LAB_IMAGE": IMAGE, "BIND": "127.0.0.1", "COMPOSE_PROFILES": "*"}
    stack = Stack(project, own | ports | variables)
    built = stack.compose("build", "simulator", timeout=900)
    assert built.returncode == 0, built.stderr
    try:
        yield stack
    finally:
        stack.compose("down", "--volumes", "--remove-orphans", "--timeout", "10")


def plain() -> dict[str, str]:
    """This process' environment without what would change the stack."""
    return {
        name: value for name, value in os.environ.items() if not name.startswith(("STEPSCOPE_", "COMPOSE_", "BIND"))
    }


def resolved(**variables: str) -> dict[str, Any]:
    """The compose file, every profile of it, as Compose resolves it."""
    need("docker")
    done = subprocess.run(
        ("docker", "compose", "--profile", "*", "config"), cwd=ROOT, env=plain() | variables, capture_output=True,
        text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    config = yaml.safe_load(done.stdout)
    assert isinstance(config, dict)
    return config
