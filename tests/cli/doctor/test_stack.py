"""The folder of the containers, and the ways in which it breaks."""

from __future__ import annotations

from pathlib import Path

import pytest

from stepscope.cli.doctor.check import Check
from stepscope.cli.doctor.stack import judge, look
from tests.cli.conftest import ROOT

COMPOSE = """\
services:
  prometheus:
    image: ${PROMETHEUS_IMAGE:?set it in .env}
    ports: ["127.0.0.1:${PROMETHEUS_PORT:?set it in .env}:9090"]
    volumes:
      - ./prometheus:/etc/prometheus:ro,z
      - data:/prometheus
  grafana:
    image: lab
    build: {context: ., args: {BASE_IMAGE: "${BASE:-}", OTHER: x}}
    volumes:
      - "./grafana/boards:/boards:ro"
  alerts:
    profiles: [alerts]
    image: alerts:1
    volumes:
      - {type: bind, source: ./alerts, target: /alerts, bind: {selinux: z}}
"""
NAMES = ["stack settings", "mounted files", "file permissions", "line endings", "selinux"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder in which all is well."""
    folder = tmp_path / "stack"
    files = {
        "docker-compose.yml": COMPOSE,
        ".env": "PROMETHEUS_IMAGE=prom:1\nPROMETHEUS_PORT=9090\n",
        "prometheus/prometheus.yml": "global:\n",
        "prometheus/rules/a.yml": "groups:\n",
        "prometheus/__pycache__/x.pyc": "",
        "grafana/boards/a.json": "{}\r\n",
    }
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    for path in [folder, *folder.rglob("*")]:
        path.chmod(0o755 if path.is_dir() else 0o644)
    (folder / "prometheus/__pycache__/x.pyc").chmod(0o600)
    return folder


def checked(folder: Path, *, root: Path | None = None, **environ: str) -> dict[str, Check]:
    checks = list(judge(look(folder, environ, root=root or folder)))
    assert [check.name for check in checks] == NAMES
    assert all(bool(check.advice) == (check.status == "problem") for check in checks)
    return {check.name: check for check in checks}


def only_problem(folder: Path, name: str, *, root: Path | None = None) -> Check:
    """The check of that name, which must be the only problem."""
    checks = checked(folder, root=root)
    assert [check.name for check in checks.values() if check.status == "problem"] == [name]
    return checks[name]


def test_all_is_well(folder: Path) -> None:
    assert {check.status for check in checked(folder).values()} == {"ok"}
    stack = look(folder, {"PROMETHEUS_IMAGE": "prom:2", "PROMETHEUS_PORT": ""})
    assert stack is not None
    assert stack.images == {"prom:2": "", "lab": ""}


def test_what_is_built_and_from_what(folder: Path) -> None:
    stack = look(folder, {"BASE": "python:3"})
    assert stack is not None
    assert stack.images == {"prom:1": "", "lab": "python:3"}


@pytest.mark.parametrize("chosen", ["alerts", "other, alerts", "*"])
def test_services_of_a_profile_count_when_it_is_chosen(folder: Path, chosen: str) -> None:
    stack = look(folder, {"COMPOSE_PROFILES": chosen})
    assert stack is not None
    assert "alerts:1" in stack.images
    assert stack.missing == ("alerts",)


@pytest.mark.parametrize(
    ("text", "why"), [("a: [", "while parsing"), ("[]", "it has no services"), ("services: 3", "it has no services")]
)
def test_a_file_that_is_none(folder: Path, text: str, why: str) -> None:
    (folder / "docker-compose.yml").write_text(text, encoding="utf-8")
    assert f"docker-compose.yml cannot be read: {why}" in only_problem(folder, "stack settings").found


def test_this_repository() -> None:
    stack = look(ROOT, {})
    assert stack is not None
    assert (stack.unset, stack.missing, stack.folders, stack.carriage_returns) == ((), (), (), ())
    assert stack.error == ""
    assert [image.partition(":")[0] for image in stack.images] == ["stepscope", "prom/prometheus", "grafana/grafana"]
    assert [base.partition(":")[0] for base in stack.images.values() if base] == ["python"]


def test_elsewhere_nothing_applies(tmp_path: Path) -> None:
    assert {check.status for check in checked(tmp_path).values()} == {"not applicable"}


def test_settings_that_nobody_sets(folder: Path) -> None:
    (folder / ".env").write_text("PROMETHEUS_IMAGE=\n", encoding="utf-8")
    found = only_problem(folder, "stack settings").found
    assert found == ".env does not set PROMETHEUS_IMAGE, PROMETHEUS_PORT"
    (folder / ".env").unlink()
    assert only_problem(folder, "stack settings").found.startswith("there is no .env to set PROMETHEUS_IMAGE")
    assert checked(folder, PROMETHEUS_IMAGE="p", PROMETHEUS_PORT="1")["stack settings"].status == "ok"


def test_a_mount_that_is_not_there(folder: Path) -> None:
    (folder / "grafana/boards/a.json").unlink()
    (folder / "grafana/boards").rmdir()
    assert only_problem(folder, "mounted files").found == "not there: grafana/boards"


def test_a_folder_in_the_place_of_a_file(folder: Path) -> None:
    (folder / "prometheus/prometheus.yml").unlink()
    (folder / "prometheus/prometheus.yml").mkdir(mode=0o755)
    check = only_problem(folder, "mounted files")
    assert check.found == "folders in the place of files: prometheus/prometheus.yml"


@pytest.mark.parametrize(("name", "mode"), [("prometheus/rules/a.yml", 0o640), ("grafana/boards", 0o754)])
def test_what_only_its_owner_may_read(folder: Path, name: str, mode: int) -> None:
    (folder / name).chmod(mode)
    check = only_problem(folder, "file permissions")
    assert check.found == f"not readable by the servers' users: {name}"
    assert check.advice == f"chmod -R a+rX {name.partition('/')[0]}"


def test_a_link_to_nowhere_is_not_readable(folder: Path) -> None:
    (folder / "prometheus/rules/b.yml").symlink_to("nowhere.yml")
    assert "b.yml" in only_problem(folder, "file permissions").found


@pytest.mark.parametrize("name", [".env", "docker-compose.yml", "prometheus/prometheus.yml"])
def test_carriage_returns(folder: Path, name: str) -> None:
    path = folder / name
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert only_problem(folder, "line endings").found == f"with CRLF: {name}"


def test_selinux(folder: Path, tmp_path: Path) -> None:
    rules = tmp_path / "sys/fs/selinux/enforce"
    rules.parent.mkdir(parents=True)
    rules.write_text("1", encoding="ascii")
    assert only_problem(folder, "selinux", root=tmp_path).found == "mounted without a label: grafana/boards"
    rules.write_text("0", encoding="ascii")
    assert checked(folder, root=tmp_path)["selinux"].status == "ok"
