"""A project from its first `up` to its second: how long it takes, what it needs, what stays."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from tests.stack.composed import SERVICES, Stack, composed, resolved
from tests.stack.real import eventually, run

pytestmark = pytest.mark.stack

MFU = "run:training_mfu:ratio_rate1m"
STEPS = "training_steps_total"


@dataclass(frozen=True, slots=True)
class Started:
    """A project that has MFU, and the seconds that it took."""

    stack: Stack
    healthy_after: float
    mfu_after: float
    """Since it was healthy."""


@pytest.fixture(scope="module")
def started() -> Iterator[Started]:
    with composed("life") as stack:
        began = time.monotonic()
        stack.up(*SERVICES)
        healthy = time.monotonic()
        eventually("MFU is recorded", lambda: stack.prometheus.vector(MFU) or None, within=60, every=0.2)
        yield Started(stack, healthy - began, time.monotonic() - healthy)


def test_it_is_healthy_within_30_seconds_and_has_mfu_within_15_more(started: Started) -> None:
    print(f"healthy after {started.healthy_after:.1f} s, MFU {started.mfu_after:.1f} s later")
    assert started.healthy_after <= 30
    assert started.mfu_after <= 15


def test_it_needs_at_most_400_mib_without_grafana(started: Started) -> None:
    names = [started.stack.inspect(service)["Name"].removeprefix("/") for service in SERVICES]
    done = run("docker", "stats", "--no-stream", "--format", "{{json .}}", *names)
    assert done.returncode == 0, done.stderr
    used = [mebibytes(json.loads(line)["MemUsage"].split(" / ")[0]) for line in done.stdout.splitlines()]
    print(f"{', '.join(SERVICES)}: {', '.join(f'{size:.0f} MiB' for size in used)}")
    assert len(used) == len(SERVICES)
    assert sum(used) <= 400


def test_down_leaves_named_volumes_alone_and_the_next_up_finds_its_history(started: Started) -> None:
    stack = started.stack
    token, moment = stack.token(), time.time()
    steps = stack.prometheus.value(STEPS, at=moment)
    assert stack.compose("down").returncode == 0
    assert leftovers(stack, "container", "ls", "--all") == []
    assert leftovers(stack, "network", "ls") == []
    # Compose makes the volumes of every profile that is on, started or not.
    volumes = {name.removeprefix(f"{stack.project}_") for name in leftovers(stack, "volume", "ls")}
    assert {"lab-token", "prometheus-data"} <= volumes <= set(resolved()["volumes"])

    stack.up(*SERVICES)
    assert stack.prometheus.value(STEPS, at=moment) == steps
    assert stack.token() == token


def leftovers(stack: Stack, *listing: str) -> list[str]:
    """Names of what the engine has of this project."""
    name = "{{.Names}}" if listing[0] == "container" else "{{.Name}}"
    done = run("docker", *listing, "--filter", f"label=com.docker.compose.project={stack.project}", "--format", name)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def mebibytes(text: str) -> float:
    """Docker's spelling of a size."""
    number = text.rstrip("GKMiB")
    return float(number) * {"KiB": 2**-10, "MiB": 1.0, "GiB": 2.0**10}[text.removeprefix(number)]
