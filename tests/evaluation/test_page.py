"""docs/evaluation.md is what the page makes of an evaluation, and keeps the wanted numbers beside the measured ones."""

from __future__ import annotations

from stepscope.evaluation.page import page
from stepscope.evaluation.play import Played, Said
from stepscope.evaluation.score import as_json, report
from stepscope.evaluation.truth import Truth


def test_every_number_has_its_place() -> None:
    slow = Truth("straggler", "", frozenset({2}))
    said = Said(25.0, ("straggler",), (frozenset({2}),))
    text = page(as_json(report([Played(0, "a job", 4, "severe", (slow,), (), (said,))])) | {"seed": 7})
    assert "**No threshold was tuned on seed 7.**" in text
    assert "| right cause first, moderate and severe | 100.0 % | ≥ 95 % |" in text
    assert "| `straggler` | 1 | – | – | 100.0 % | 100.0 % | 25 |" in text
