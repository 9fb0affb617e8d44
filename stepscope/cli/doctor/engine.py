"""What the Docker engine says of itself: through the docker SDK where it is installed, else through the command."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

TIMEOUT_SECONDS = 2.0
_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}

Run = Callable[[Sequence[str]], tuple[int, str, str]]
"""Runs a program: exit status, standard output, standard error."""


@dataclass(frozen=True, slots=True)
class Engine:
    """An engine that answers, or why none does."""

    error: str = ""
    version: str = ""
    system: str = ""
    """Operating system of its containers."""
    architecture: str = ""
    """amd64, arm64, …"""
    runtimes: tuple[str, ...] = ()
    images: Mapping[str, str] = field(default_factory=dict)
    """Architecture by name, of those asked for that are there."""
    through: str = ""
    """docker SDK or docker command."""


def look(images: Iterable[str], *, run: Run, load: Callable[[str], Any] = import_module) -> Engine:
    """At the engine of the current context; `load` imports a module. Never raises."""
    try:
        docker = load("docker")
    except Exception:
        return _through_command(images, run)
    try:
        return _through_sdk(images, docker)
    except Exception as error:
        return Engine(error=_reason(error), through="docker SDK")


def run_program(words: Sequence[str]) -> tuple[int, str, str]:
    """Run it with a time limit; a failure to start, or to end, is exit status 124."""
    try:
        done = subprocess.run(
            words, capture_output=True, timeout=TIMEOUT_SECONDS, check=False, stdin=subprocess.DEVNULL,
            encoding="utf-8", errors="replace",
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return 124, "", f"nothing came within {TIMEOUT_SECONDS:g} s"
    except OSError as error:
        return 124, "", str(error.strerror or error).lower()
    return done.returncode, done.stdout, done.stderr


def _through_sdk(images: Iterable[str], docker: Any) -> Engine:
    client = docker.from_env(timeout=TIMEOUT_SECONDS)
    try:
        version, info = client.version(), client.info()
        found = {}
        for name in images:
            try:
                found[name] = _architecture(client.images.get(name).attrs.get("Architecture"))
            except docker.errors.NotFound:
                continue
    finally:
        client.close()
    return _engine(version, info, found, "docker SDK")


def _through_command(images: Iterable[str], run: Run) -> Engine:
    status, out, err = run(["docker", "version", "--format", "{{json .Server}}"])
    version = _object(out)
    if status or not version:
        return Engine(error=_last_line(err) or "the engine does not answer", through="docker command")
    _, out, _ = run(["docker", "info", "--format", "{{json .}}"])
    found = {}
    for name in images:
        status, architecture, _ = run(["docker", "image", "inspect", "--format", "{{.Architecture}}", name])
        if status == 0:
            found[name] = _architecture(architecture.strip())
    return _engine(version, _object(out), found, "docker command")


def _engine(version: Mapping[str, Any], info: Mapping[str, Any], images: Mapping[str, str], through: str) -> Engine:
    runtimes = info.get("Runtimes")
    return Engine(
        version=str(version.get("Version", "?")),
        system=str(version.get("Os", "?")),
        architecture=_architecture(version.get("Arch")),
        runtimes=tuple(runtimes) if isinstance(runtimes, dict) else (),
        images=dict(images),
        through=through,
    )


def _architecture(name: object) -> str:
    return _ARCHITECTURES.get(str(name), str(name))


def _object(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _reason(error: BaseException) -> str:
    """The error of the system at the bottom of the SDK's and its libraries' errors, in few words."""
    seen: list[BaseException] = []
    waiting: list[object] = [error]
    while waiting:
        current = waiting.pop(0)
        if not isinstance(current, BaseException) or current in seen:
            continue
        if isinstance(current, OSError) and isinstance(current.strerror, str):
            return current.strerror.lower()
        seen.append(current)
        waiting += [*current.args, current.__cause__, current.__context__]
    if any("timeout" in type(one).__name__.lower() or "timed out" in str(one).lower() for one in seen):
        return f"nothing came within {TIMEOUT_SECONDS:g} s"
    return " ".join(str(error).split())[:200] or type(error).__name__


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else ""
