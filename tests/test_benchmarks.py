"""The benchmarks run and say what they should say. What they measure is not tested: no test fails on a clock."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks import report
from benchmarks.__main__ import PARTS, main
from benchmarks.row import Row, quantile


@pytest.mark.parametrize("part", PARTS)
def test_quick(part: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    assert main(["--quick", "--json", "--only", part, "--output", str(page)]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["quick"] is True
    assert found["machine"]["CPU"]
    assert found["rows"]
    assert all(row["value"] > 0 and row["unit"] in ("×", "s", "ms", "µs", "MiB") for row in found["rows"])
    assert all(row["verdict"] in ("", "PASS", "MISS") for row in found["rows"])
    assert any(row["verdict"] for row in found["rows"])
    assert page.read_text(encoding="utf-8").startswith("# Benchmarks\n")


@pytest.mark.parametrize(
    ("row", "asked", "reached", "verdict"),
    [
        (Row("a", 15.0, "×", at_least=15.0), "≥ 15 ×", "15 ×", "PASS"),
        (Row("a", 14.9, "×", at_least=15.0), "≥ 15 ×", "14.9 ×", "MISS"),
        (Row("a", 120.0, "MiB", below=120.0), "< 120 MiB", "120 MiB", "MISS"),
        (Row("a", 0.5, "s", below=3.0), "< 3 s", "0.5 s", "PASS"),
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
