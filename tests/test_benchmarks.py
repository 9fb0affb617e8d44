"""The benchmarks run and say what they should say. What they measure is not tested: no test fails on a clock."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from benchmarks import report, scaled
from benchmarks.__main__ import PARTS, main
from benchmarks.row import Row, quantile
from simulator.timeline import StepModel


@pytest.mark.parametrize("part", PARTS)
def test_quick(part: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    assert main(["--quick", "--json", "--only", part, "--output", str(page)]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["quick"] is True
    assert found["machine"]["CPU"]
    assert found["rows"]
    measured = [row for row in found["rows"] if row["value"] is not None]
    assert all(row["value"] >= 0 and row["unit"] in ("×", "%", "s", "ms", "µs", "MiB") for row in measured)
    assert all(row["detail"] and not row["verdict"] for row in found["rows"] if row not in measured)
    assert all(row["verdict"] in ("", "PASS", "MISS") for row in found["rows"])
    assert not measured or any(row["verdict"] for row in measured)
    assert page.read_text(encoding="utf-8").startswith("# Benchmarks\n")


@pytest.mark.parametrize(
    ("row", "asked", "reached", "verdict"),
    [
        (Row("a", 15.0, "×", at_least=15.0), "≥ 15 ×", "15 ×", "PASS"),
        (Row("a", 14.9, "×", at_least=15.0), "≥ 15 ×", "14.9 ×", "MISS"),
        (Row("a", 120.0, "MiB", below=120.0), "< 120 MiB", "120 MiB", "MISS"),
        (Row("a", 0.5, "s", below=3.0), "< 3 s", "0.5 s", "PASS"),
        (Row("a", 5.0, "%", at_most=5.0), "≤ 5 %", "5 %", "PASS"),
        (Row("a", 5.1, "%", at_most=5.0), "≤ 5 %", "5.1 %", "MISS"),
        (Row("a", None, "ms", below=3.0, detail="no"), "< 3 ms", "not measured", ""),
        (Row("a", 2_031.4, "×"), "", "2,031 ×", ""),
    ],
)
def test_row(row: Row, asked: str, reached: str, verdict: str) -> None:
    assert (row.asked, row.reached, row.verdict) == (asked, reached, verdict)


def test_quantile() -> None:
    values = [float(value) for value in range(100, 0, -1)]
    assert (quantile(values, 0.5), quantile(values, 0.99), quantile(values, 1.0)) == (50.0, 99.0, 100.0)
    assert quantile([3.0], 0.99) == 3.0


def test_page() -> None:
    page = report.markdown({"CPU": "one"}, [Row("a", 0.5, "s", below=3.0, detail="how")])
    assert "* CPU: one\n" in page
    assert page.endswith("| a | < 3 s | 0.5 s | PASS | how |\n")


def test_without_prometheus_that_is_said(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    assert main(["--quick", "--only", "prometheus"]) == 0
    assert "| not measured |  | there is no `prometheus` on the PATH |" in capsys.readouterr().out


@pytest.mark.parametrize("ranks", [8, 32, 1_024])
def test_the_anatomy_keeps_its_step_at_every_size(ranks: int) -> None:
    job = scaled.anatomy(ranks)
    assert job.ranks == ranks
    assert StepModel(job, seed=1).healthy_step_seconds == pytest.approx(scaled.STEP_SECONDS)
    assert job.loader.service_seconds > 0.0


def test_sizes_that_no_node_makes() -> None:
    with pytest.raises(ValueError, match="ranks: 12 is not a multiple of 8"):
        scaled.anatomy(12)
