"""METRICS.md follows the catalogue."""

from __future__ import annotations

from pathlib import Path

import pytest

from exporter import metrics_md
from exporter.catalogue import FAMILIES


def test_the_committed_file_is_up_to_date() -> None:
    assert metrics_md.main(["--check"]) == 0


def test_every_family_has_a_row() -> None:
    text = metrics_md.document()
    for family in FAMILIES:
        assert text.count(f"\n| `{family.name}` |") == 1


def test_check_shows_the_difference(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(metrics_md, "PATH", tmp_path / "METRICS.md")
    assert metrics_md.main(["--check"]) == 1
    assert "+# Metrics" in capsys.readouterr().err
    assert metrics_md.main([]) == 0
    assert metrics_md.main(["--check"]) == 0
    metrics_md.PATH.write_text(metrics_md.document().replace("training_loss", "training_lost"), encoding="utf-8")
    assert metrics_md.main(["--check"]) == 1
    assert "run `python -m exporter.metrics_md`" in capsys.readouterr().err
