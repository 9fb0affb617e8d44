"""Everything about Docker that can stand in the way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from stepscope.cli.doctor.context import Context
from stepscope.cli.doctor.docker import Docker, judge, look
from stepscope.cli.doctor.engine import Engine

WANTED = {"g": "", "l": "y", "p": ""}
"""The image `l` is built from `y`."""
ALL_HERE = {"g": "amd64", "l": "amd64", "p": "amd64"}
ENGINE = Engine("", "28.1", "linux", "amd64", ("runc",), ALL_HERE, "docker SDK")
FINE = Docker("/usr/bin/docker", Context("default", ""), ENGINE, "2.39.1", old_compose=False, wanted=WANTED)
NAMES = ["docker command", "docker context", "docker engine", "compose", "architecture", "images", "gpu runtime"]


def seen(home: Path, *, environ: dict[str, str] | None = None, programs: Sequence[str] = ("docker",)) -> Docker:
    return look(
        environ or {}, WANTED, home=home,
        which=lambda name: f"/usr/bin/{name}" if name in programs else None,
        run=lambda words: (0, "2.39.1\n", "") if "compose" in words else (1, "", ""),
        ask=lambda images, **_: replace(ENGINE, images=dict.fromkeys(images, "amd64")),
    )  # fmt: skip


def test_looking(tmp_path: Path) -> None:
    found = seen(tmp_path)
    assert (found.command, found.compose, found.old_compose) == ("/usr/bin/docker", "2.39.1", False)
    assert found.engine is not None
    assert sorted(found.engine.images) == ["g", "l", "p", "y"]


def test_an_engine_elsewhere_is_not_asked(tmp_path: Path) -> None:
    assert seen(tmp_path, environ={"DOCKER_HOST": "ssh://far"}).engine is None
    assert seen(tmp_path, environ={"DOCKER_CONTEXT": "unknown"}).engine is None


def test_no_docker(tmp_path: Path) -> None:
    found = seen(tmp_path, programs=["docker-compose"])
    assert (found.command, found.engine, found.old_compose) == ("", None, True)
    checks = list(judge(found, gpus=8))
    assert [check.name for check in checks] == NAMES
    assert [check.status for check in checks] == ["warning", *["not applicable"] * 6]
    assert "the lab itself runs without Docker" in checks[0].advice


def test_all_is_well() -> None:
    checks = list(judge(FINE, gpus=0))
    assert [check.name for check in checks] == NAMES
    assert [check.status for check in checks] == [*["ok"] * 6, "not applicable"]
    assert all(not check.advice for check in checks)


@pytest.mark.parametrize("error", ["permission denied", "connection refused"])
def test_without_an_engine_the_rest_does_not_apply(error: str) -> None:
    checks = list(judge(replace(FINE, engine=Engine(error=error)), gpus=8))
    assert [check.name for check in checks] == NAMES
    assert [check.status for check in checks] == ["ok", "ok", "problem", "ok", *["not applicable"] * 3]


@pytest.mark.parametrize(
    ("docker", "gpus", "name", "status", "said"),
    [
        (
            replace(FINE, context=Context("x", "", "there is no context 'x'")),
            0,
            "docker context",
            "problem",
            "no context",
        ),
        (
            replace(FINE, context=Context("x", "ssh://far"), engine=None),
            0,
            "docker context",
            "warning",
            "another machine",
        ),
        (replace(FINE, engine=None), 0, "docker engine", "not applicable", "not asked"),
        (replace(FINE, engine=Engine(error="permission denied")), 0, "docker engine", "problem", "usermod -aG docker"),
        (
            replace(FINE, engine=Engine(error="nothing came within 2 s")),
            0,
            "docker engine",
            "problem",
            "start it again",
        ),
        (replace(FINE, engine=Engine(error="connection refused")), 0, "docker engine", "problem", "systemctl start"),
        (replace(FINE, compose=""), 0, "compose", "problem", "no Compose"),
        (replace(FINE, compose="", old_compose=True), 0, "compose", "problem", "only docker-compose, version 1"),
        (replace(FINE, compose="v2.0.1"), 0, "compose", "problem", "update it to 2.1.1 or newer"),
        (replace(FINE, compose="v5.0.0-desktop.1"), 0, "compose", "ok", "v5.0.0"),
        (replace(FINE, compose="dev"), 0, "compose", "problem", "update it"),
        (replace(FINE, engine=replace(ENGINE, architecture="riscv64")), 0, "architecture", "problem", "is riscv64"),
        (replace(FINE, engine=replace(ENGINE, architecture="arm64")), 0, "architecture", "warning", "not so g, l, p"),
        (replace(FINE, engine=replace(ENGINE, images={"p": "amd64"})), 0, "images", "warning", "not here yet: g, l, y"),
        (replace(FINE, wanted={}), 0, "images", "not applicable", "nothing names any"),
        (FINE, 8, "gpu runtime", "warning", "nvidia-container-toolkit"),
        (replace(FINE, engine=replace(ENGINE, runtimes=("nvidia",))), 8, "gpu runtime", "ok", "can give GPUs"),
    ],
)
def test_verdicts(docker: Docker, gpus: int, name: str, status: str, said: str) -> None:
    (check,) = [check for check in judge(docker, gpus=gpus) if check.name == name]
    assert check.status == status
    assert said in f"{check.found} {check.advice}"
    assert bool(check.advice) == (status in ("warning", "problem"))
