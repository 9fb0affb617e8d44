"""Docker's command line, its context, its engine, Compose, and what the engine has in store."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from stepscope.cli.doctor import context, engine
from stepscope.cli.doctor.check import Check, listed

_OLDEST_COMPOSE = (2, 1, 1)
"""The first whose `up --wait` returns when all are healthy."""
ARCHITECTURES = ("amd64", "arm64")
"""That the images of .env exist for."""
_NEEDS_ENGINE = ("architecture", "images", "gpu runtime")
_WITHOUT = "the lab itself runs without Docker; Prometheus and Grafana come with it"


@dataclass(frozen=True, slots=True)
class Docker:
    """All that there is of Docker."""

    command: str
    """Path of the command line; empty when there is none."""
    context: context.Context
    engine: engine.Engine | None
    """None when it was not asked, since it is on another machine or there is no command line."""
    compose: str
    """Its version; empty when there is none."""
    old_compose: bool
    """Whether docker-compose, version 1, is there."""
    wanted: Mapping[str, str]
    """As in `stack.Stack.images`: what each image is built from, if it is."""


def look(
    environ: Mapping[str, str],
    wanted: Mapping[str, str],
    *,
    home: Path,
    which: Callable[[str], str | None] = shutil.which,
    run: engine.Run = engine.run_program,
    ask: Callable[..., engine.Engine] = engine.look,
) -> Docker:
    """At this machine; an engine on another one is not asked."""
    command, chosen = which("docker") or "", context.look(environ, home=home)
    compose, answers = "", None
    if command:
        status, out, _ = run(["docker", "compose", "version", "--short"])
        compose = out.strip() if status == 0 else ""
        if chosen.local and not chosen.error:
            answers = ask(sorted({*wanted, *filter(None, wanted.values())}), run=run)
    return Docker(command, chosen, answers, compose, which("docker-compose") is not None, wanted)


def judge(docker: Docker, *, gpus: int) -> Iterator[Check]:
    """Checks `docker command`, `docker context`, `docker engine`, `compose`, and those of `_NEEDS_ENGINE`."""
    if not docker.command:
        advice = f"install Docker with Compose v2 if you want them: {_WITHOUT}"
        yield Check("docker command", "warning", "docker is not on the PATH", advice)
        for name in ("docker context", "docker engine", "compose", *_NEEDS_ENGINE):
            yield Check(name, "not applicable", "no Docker")
        return
    yield Check("docker command", "ok", docker.command)
    yield _context(docker.context)
    yield _engine(docker)
    yield _compose(docker)
    there = docker.engine if docker.engine is not None and not docker.engine.error else None
    if there is None:
        for name in _NEEDS_ENGINE:
            yield Check(name, "not applicable", "no engine was reached")
        return
    yield _architecture(there)
    yield _images(docker.wanted, there)
    yield _gpu_runtime(there, gpus)


def _context(chosen: context.Context) -> Check:
    name = "docker context"
    if chosen.error:
        return Check(name, "problem", chosen.error, "docker context ls; docker context use default")
    where = chosen.endpoint or "the system's own socket"
    if chosen.local:
        return Check(name, "ok", f"{chosen.name}: {where}")
    advice = "ports on 127.0.0.1 are that machine's, and so are mounted folders: docker context use default"
    return Check(name, "warning", f"{chosen.name}: {where}, another machine", advice)


def _engine(docker: Docker) -> Check:
    found = docker.engine
    if found is None:
        return Check(
            "docker engine", "not applicable", "not asked: it is on another machine, or its address is unknown"
        )
    if not found.error:
        text = f"{found.version} on {found.system}/{found.architecture}, asked through the {found.through}"
        return Check("docker engine", "ok", text)
    if "permission denied" in found.error:
        advice = "sudo usermod -aG docker $USER, then log in again"
    elif found.error.startswith("nothing came"):
        advice = "start it again: it accepts connections and does not answer"
    else:
        advice = "start it: systemctl start docker, or Docker Desktop"
    return Check("docker engine", "problem", f"does not answer: {found.error}", advice)


def _compose(docker: Docker) -> Check:
    if not docker.compose:
        old = "only docker-compose, version 1, which cannot read this file" if docker.old_compose else "no Compose"
        return Check("compose", "problem", old, "install the plugin docker-compose-plugin (docker compose version)")
    numbers = tuple(map(int, re.findall(r"\d+", docker.compose)[:3]))
    if numbers < _OLDEST_COMPOSE:
        advice = f"update it to {'.'.join(map(str, _OLDEST_COMPOSE))} or newer: `up --wait` is used"
        return Check("compose", "problem", docker.compose, advice)
    return Check("compose", "ok", docker.compose)


def _architecture(found: engine.Engine) -> Check:
    name, own = "architecture", found.architecture
    if own not in ARCHITECTURES:
        advice = f"the images exist for {' and '.join(ARCHITECTURES)}: run the lab without Docker, stepscope lab"
        return Check(name, "problem", f"the engine is {own}", advice)
    foreign = [image for image, architecture in found.images.items() if architecture != own]
    if foreign:
        advice = "they run slowly or not at all: docker compose pull, docker compose build --pull"
        return Check(name, "warning", f"the engine is {own}, and not so {listed(foreign)}", advice)
    return Check(name, "ok", f"{own}, as are the images that are here")


def _images(wanted: Mapping[str, str], found: engine.Engine) -> Check:
    if not wanted:
        return Check("images", "not applicable", "nothing names any")
    absent = [image for image in wanted if image not in found.images]
    # What an image is built from is needed only while it has to be built.
    missing = absent + [base for base in (wanted[image] for image in absent) if base and base not in found.images]
    if missing:
        advice = "the first start downloads or builds them; before you go offline: docker compose pull and build"
        return Check("images", "warning", f"not here yet: {listed(missing)}", advice)
    return Check("images", "ok", "all here: the containers start offline")


def _gpu_runtime(found: engine.Engine, gpus: int) -> Check:
    name = "gpu runtime"
    if not gpus:
        return Check(name, "not applicable", "no GPU to give to a container")
    if "nvidia" in found.runtimes:
        return Check(name, "ok", "the engine can give GPUs to containers")
    advice = "install nvidia-container-toolkit, then nvidia-ctk runtime configure and restart the engine"
    return Check(name, "warning", "containers cannot have GPUs: the engine has no NVIDIA runtime", advice)
