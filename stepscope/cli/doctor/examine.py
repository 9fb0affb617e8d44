"""Look at everything at once, for no longer than somebody waits for it, and judge what was seen."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from stepscope import __version__
from stepscope.cli.client import Client
from stepscope.cli.doctor import clock, docker, gpus, lab, memory, ports, python, stack
from stepscope.cli.doctor.check import Check, Unknown, judged
from stepscope.cli.doctor.look import Look
from stepscope.cli.doctor.settings import Port

DEADLINE_SECONDS = 2.5


@dataclass(frozen=True, slots=True)
class Facts:
    """All that was seen."""

    python: python.Python | Unknown
    ports: Sequence[ports.Held]
    lab: lab.Lab | Unknown
    clock: clock.Clock | Unknown
    memory: memory.Memory | Unknown
    gpus: gpus.Gpus | Unknown
    docker: docker.Docker | Unknown
    stack: stack.Stack | Unknown | None


def look(
    wanted_ports: Sequence[Port],
    client: Client,
    *,
    asked_for: bool,
    folder: Path,
    environ: Mapping[str, str] = os.environ,
    home: Path | None = None,
) -> Facts:
    """At this machine, within the deadline; `client` asks the lab, which is expected there when it was `asked_for`."""
    end = time.monotonic() + DEADLINE_SECONDS
    # The folder comes first: it names the images that the engine is asked for.
    found = Look(partial(stack.look, folder, environ)).until(end)
    images = found.images if isinstance(found, stack.Stack) else {}
    pythons, clocks, memories, cards = Look(python.look), Look(clock.look), Look(memory.look), Look(gpus.look)
    labs = Look(partial(lab.look, client, asked_for=asked_for))
    dockers = Look(partial(docker.look, environ, images, home=home or Path.home()))
    holders = [(port, Look(partial(ports.look, port))) for port in wanted_ports]
    return Facts(
        python=pythons.until(end),
        ports=[_held(port, holder.until(end)) for port, holder in holders],
        lab=labs.until(end),
        clock=clocks.until(end),
        memory=memories.until(end),
        gpus=cards.until(end),
        docker=dockers.until(end),
        stack=found,
    )


def judge(facts: Facts) -> Iterator[Check]:
    """Every check, in the order in which they are read."""
    cards = len(facts.gpus.names) if isinstance(facts.gpus, gpus.Gpus) else 0
    with_docker = isinstance(facts.docker, docker.Docker) and bool(facts.docker.command)
    yield from judged("python", facts.python, python.judge)
    yield from judged("memory", facts.memory, memory.judge)
    yield from judged("clock", facts.clock, clock.judge)
    yield from ports.judge(facts.ports, docker=with_docker)
    yield from judged("lab", facts.lab, partial(lab.judge, version=__version__))
    yield from judged("gpus", facts.gpus, gpus.judge)
    yield from judged("docker", facts.docker, partial(docker.judge, gpus=cards))
    yield from judged("stack", facts.stack, stack.judge)


def _held(port: Port, seen: ports.Held | Unknown) -> ports.Held:
    # Somebody accepted the connection and then said nothing.
    return ports.Held(port, ports.OTHER) if isinstance(seen, Unknown) else seen
