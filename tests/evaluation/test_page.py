"""docs/evaluation.md is what the page makes of an evaluation, and keeps the wanted numbers beside the measured ones."""

from __future__ import annotations

import re
from pathlib import Path

from stepscope.evaluation.page import page
from stepscope.evaluation.play import Played, Said
from stepscope.evaluation.score import as_json, report
from stepscope.evaluation.truth import Truth

COMMITTED = Path(__file__).parents[2] / "docs" / "evaluation.md"


def test_every_number_has_its_place() -> None:
    slow = Truth("straggler", "", frozenset({2}))
    said = Said(25.0, ("straggler",), (frozenset({2}),))
    text = page(as_json(report([Played(0, "a job", 4, "severe", (slow,), (), (said,))])) | {"seed": 7})
    assert "**No threshold was tuned on seed 7.**" in text
    assert "| right cause first, moderate and severe | 100.0 % | ≥ 95 % |" in text
    assert "| `straggler` | 1 | – | – | 100.0 % | 100.0 % | 25 |" in text


def test_the_committed_page_reports_a_seed_that_no_threshold_was_set_on() -> None:
    text = COMMITTED.read_text(encoding="utf-8")
    (seed,) = re.findall(r"tuned on seed (\d+)", text)
    (tuned,) = re.findall(r"set on seeds ([\d, and\n]+), which", text)
    assert seed not in re.findall(r"\d+", tuned)
    (windows,) = re.findall(r"any verdict \((\d+) windows\)", text)
    assert int(windows) >= 200
