"""What a wheel holds, what it asks for, and what the repository promises about its layout."""

from __future__ import annotations

import subprocess
import tomllib
import zipfile
from email.message import Message
from email.parser import Parser
from pathlib import Path

import pytest
from hatchling.builders.wheel import WheelBuilder

ROOT = Path(__file__).parents[1]
PACKAGES = {"stepscope", "diagnosis", "exporter", "simulator", "faults"}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    (artifact,) = WheelBuilder(str(ROOT)).build(directory=str(tmp_path_factory.mktemp("dist")), versions=["standard"])
    return Path(artifact)


@pytest.fixture(scope="module")
def names(wheel: Path) -> list[str]:
    return zipfile.ZipFile(wheel).namelist()


@pytest.fixture(scope="module")
def metadata(wheel: Path) -> Message:
    with zipfile.ZipFile(wheel) as archive:
        name = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        return Parser().parsestr(archive.read(name).decode("utf-8"))


def test_the_wheel_has_five_packages_and_nothing_else(names: list[str]) -> None:
    top = {name.split("/")[0] for name in names}
    assert {name for name in top if not name.endswith(".dist-info")} == PACKAGES


def test_no_build_file_or_test_is_in_the_wheel(names: list[str]) -> None:
    files = [Path(name).name.lower() for name in names]
    assert not [name for name in files if name.startswith(("dockerfile", "test_", "conftest", "docker-compose"))]


def test_the_page_and_its_parts_are_in_the_wheel(names: list[str]) -> None:
    assert {f"stepscope/web/{path.name}" for path in (ROOT / "stepscope" / "web").iterdir() if path.is_file()} <= set(
        names
    )


def test_the_workbook_that_the_lab_serves_is_in_the_wheel(names: list[str]) -> None:
    pages = [path.relative_to(ROOT / "docs") for path in (ROOT / "docs" / "workbook").rglob("*.md")]
    assert len(pages) == 14
    assert {f"stepscope/{page}" for page in pages} <= set(names)


def test_every_module_of_the_packages_is_in_the_wheel(names: list[str]) -> None:
    modules = {str(path.relative_to(ROOT)) for package in PACKAGES for path in (ROOT / package).rglob("*.py")}
    assert modules <= set(names)


def test_the_base_wheel_depends_on_nothing(metadata: Message) -> None:
    assert all("extra ==" in requirement for requirement in metadata.get_all("Requires-Dist", []))
    assert set(metadata.get_all("Provides-Extra", [])) == {"lab", "gpu", "stack", "job", "dev"}
    assert metadata["License-Expression"] == "Apache-2.0"
    assert metadata["Requires-Python"] == ">=3.11"


def test_the_command_is_installed(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        name = next(name for name in archive.namelist() if name.endswith("entry_points.txt"))
        assert "stepscope = stepscope.__main__:main" in archive.read(name).decode()


def test_the_image_is_tagged_with_the_version() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert f"LAB_IMAGE=stepscope:{version}" in (ROOT / ".env").read_text().splitlines()


def test_no_folder_shadows_an_imported_package() -> None:
    """A folder docker/ hides the SDK from type checkers; grafana/ and prometheus/ hold scripts, not packages."""
    assert not (ROOT / "docker").exists()
    assert not (ROOT / "grafana" / "__init__.py").exists()
    assert not (ROOT / "prometheus" / "__init__.py").exists()
    scripts = [path.name for folder in ("grafana", "prometheus") for path in (ROOT / folder).glob("*.py")]
    assert len(scripts) == len(set(scripts))


@pytest.mark.parametrize(
    "target", ["help", "setup", "lab", "up", "down", "logs", "test", "stack", "check", "fmt", "lint"]
)
def test_make_knows_its_targets(target: str) -> None:
    done = subprocess.run(["make", "-n", target], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_an_older_python_is_refused_in_one_line(tmp_path: Path) -> None:
    old = tmp_path / "python3.10"
    old.write_text('#!/bin/sh\n[ "$1" = -V ] && { echo "Python 3.10.9"; exit 0; }\nexit 1\n')
    old.chmod(0o755)
    done = subprocess.run(
        ["make", "--silent", "lab", f"PYTHON={old}", f"VENV={tmp_path / 'venv'}"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    first = done.stderr.splitlines()[0]
    assert done.returncode != 0
    assert "needs Python 3.11 or newer" in first
    assert "Python 3.10.9" in first
