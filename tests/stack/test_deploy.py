"""The systemd unit as systemd reads it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.stack.real import ROOT, need, run

pytestmark = pytest.mark.stack

UNIT = ROOT / "deploy" / "systemd" / "stepscope-export.service"
MOST_EXPOSURE = 25
"""Tenths, of 100: systemd calls up to 19 OK, and 20 to 49 medium."""


@pytest.fixture
def unit(tmp_path: Path) -> Path:
    """The unit with a program that this machine has in the place of the one that it starts."""
    text = UNIT.read_text(encoding="utf-8")
    assert text.count("ExecStart=/opt/stepscope/bin/stepscope export\n") == 1
    copy = tmp_path / UNIT.name
    copy.write_text(text.replace("/opt/stepscope/bin/stepscope", "/bin/true"), encoding="utf-8")
    return copy


def test_systemd_understands_every_line(unit: Path) -> None:
    done = run(need("systemd-analyze"), "verify", str(unit))
    assert done.returncode == 0, done.stderr
    assert unit.name not in done.stderr, "it warns of lines that it ignores"


def test_systemd_finds_a_line_that_it_does_not_know(unit: Path) -> None:
    unit.write_text(unit.read_text(encoding="utf-8").replace("RuntimeDirectory=", "RuntimeDirectories="))
    assert unit.name in run(need("systemd-analyze"), "verify", str(unit)).stderr


def test_it_is_exposed_to_little(unit: Path) -> None:
    done = run(need("systemd-analyze"), "security", "--offline=true", f"--threshold={MOST_EXPOSURE}", str(unit))
    assert done.returncode == 0, done.stdout
