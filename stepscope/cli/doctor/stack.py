"""The folder of the containers: its settings, what it mounts, and whether the servers can read that."""

from __future__ import annotations

import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from stepscope.cli.doctor import compose
from stepscope.cli.doctor.check import Check, listed
from stepscope.cli.doctor.settings import COMPOSE_FILE, ENV_FILE, read_env_file

_CODE = (".yml", ".yaml", ".sh")
_FILES = (*_CODE, ".json", ".csv")
_ALONE = (COMPOSE_FILE, ENV_FILE, "Dockerfile", "Makefile", ".ci/run")
_ENFORCING = "sys/fs/selinux/enforce"
_ENOUGH_BYTES = 1 << 18


@dataclass(frozen=True, slots=True)
class Stack:
    """A folder with a Compose file. Paths are relative to it."""

    folder: Path
    has_env_file: bool
    error: str = ""
    """Why the Compose file cannot be understood."""
    unset: tuple[str, ...] = ()
    """Variables that the Compose file insists on and nobody sets."""
    missing: tuple[str, ...] = ()
    """Mounted paths that are not there."""
    folders: tuple[str, ...] = ()
    """Folders with the name of a file: what Docker makes of a mounted file that was not there."""
    unreadable: tuple[str, ...] = ()
    """Mounted paths that only their owner may read."""
    carriage_returns: tuple[str, ...] = ()
    """Text files with CRLF at the ends of lines."""
    unlabelled: tuple[str, ...] = ()
    """Mounts that SELinux will not let a container read; empty where it does not rule."""
    images: Mapping[str, str] = field(default_factory=dict)
    """Image that it is built from (empty: it is pulled) by image, of the services that start."""


def look(folder: Path, environ: Mapping[str, str], *, root: Path = Path("/")) -> Stack | None:
    """At the files below `folder`; None when it has no Compose file."""
    text = _text(folder / COMPOSE_FILE)
    if text is None:
        return None
    values = {**read_env_file(folder), **{name: value for name, value in environ.items() if value}}
    error, services = "", []
    try:
        services = compose.services(text, values)
    except ValueError as problem:
        error = str(problem)
    mounts = {mount.source.removeprefix("./"): mount for service in services for mount in service.mounts}
    below = sorted({path for source in mounts for path in _all(folder / source)})
    texts = [folder / name for name in _ALONE] + [path for path in below if path.suffix in _CODE]
    enforcing = (_text(root / _ENFORCING) or "").strip() == "1"
    return Stack(
        folder=folder,
        has_env_file=(folder / ENV_FILE).is_file(),
        error=error,
        unset=tuple(name for name in compose.needed(text) if not values.get(name)),
        missing=tuple(source for source in mounts if not (folder / source).exists()),
        folders=_names(folder, (path for path in below if path.is_dir() and path.suffix in _FILES)),
        unreadable=_names(folder, (path for path in below if not _open_to_others(path))),
        carriage_returns=_names(folder, (path for path in texts if "\r\n" in (_text(path) or ""))),
        unlabelled=tuple(source for source, mount in mounts.items() if enforcing and not mount.labelled),
        images={service.image: service.base for service in services if service.image},
    )


def judge(stack: Stack | None) -> Iterator[Check]:
    """Checks `stack settings`, `mounted files`, `file permissions`, `line endings` and `selinux`."""
    if stack is None:
        for name in ("stack settings", "mounted files", "file permissions", "line endings", "selinux"):
            found = f"no {COMPOSE_FILE} here: the containers are started from the repository"
            yield Check(name, "not applicable", found)
        return
    yield _settings(stack)
    yield _mounted(stack)
    yield _verdict(
        "file permissions", stack.unreadable, "not readable by the servers' users",
        f"chmod -R a+rX {' '.join(sorted({path.partition('/')[0] for path in stack.unreadable}))}", "readable by all",
    )  # fmt: skip
    yield _verdict(
        "line endings", stack.carriage_returns, "with CRLF",
        "git config core.autocrlf input, then check these files out again", "LF everywhere",
    )  # fmt: skip
    yield _verdict(
        "selinux", stack.unlabelled, "mounted without a label", f"add `z` to their mounts in {COMPOSE_FILE}",
        "it does not stand in the way",
    )  # fmt: skip


def _settings(stack: Stack) -> Check:
    name = "stack settings"
    if stack.error:
        return Check(name, "problem", f"{COMPOSE_FILE} cannot be read: {stack.error}", f"git checkout {COMPOSE_FILE}")
    if not stack.unset:
        return Check(name, "ok", f"{stack.folder}: all that {COMPOSE_FILE} asks for is set")
    where = f"{ENV_FILE} does not set" if stack.has_env_file else f"there is no {ENV_FILE} to set"
    return Check(name, "problem", f"{where} {listed(stack.unset)}", f"git checkout {ENV_FILE}")


def _mounted(stack: Stack) -> Check:
    if stack.folders:
        advice = "docker compose down, remove these folders (sudo rmdir), then git checkout the files"
        return Check("mounted files", "problem", f"folders in the place of files: {listed(stack.folders)}", advice)
    if stack.missing:
        advice = "git checkout them; Docker would make empty folders of root in their place"
        return Check("mounted files", "problem", f"not there: {listed(stack.missing)}", advice)
    return Check("mounted files", "ok", "all there")


def _verdict(name: str, wrong: tuple[str, ...], what: str, advice: str, fine: str) -> Check:
    return Check(name, "problem", f"{what}: {listed(wrong)}", advice) if wrong else Check(name, "ok", fine)


def _all(top: Path) -> Iterator[Path]:
    """A mounted path and all that is below it, but for what Python left there."""
    if top.exists():
        yield top
        yield from (path for path in top.rglob("*") if "__pycache__" not in path.parts)


def _open_to_others(path: Path) -> bool:
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    wanted = stat.S_IROTH | stat.S_IXOTH if stat.S_ISDIR(mode) else stat.S_IROTH
    return mode & wanted == wanted


def _names(folder: Path, paths: Iterator[Path]) -> tuple[str, ...]:
    return tuple(path.relative_to(folder).as_posix() for path in paths)


def _text(path: Path) -> str | None:
    """The beginning of a text file, its line ends as they are; None when it cannot be read."""
    try:
        with path.open("rb") as file:
            return file.read(_ENOUGH_BYTES).decode("utf-8", errors="replace")
    except OSError:
        return None
