"""docs/fidelity.md: complete, current, and checked with the tolerance that it promises."""

from __future__ import annotations

from pathlib import Path

import pytest

from exporter.catalogue import FAMILIES
from tests.oracles.fidelity import PATH, document, main, same
from tests.oracles.oracles import ORACLES
from tests.oracles.tags import MEANING, TAGS

OURS = tuple(family for family in FAMILIES if family.page != "export")
"""What the simulated source exports."""


def test_every_family_of_the_catalogue_has_a_tag_and_no_other_has() -> None:
    assert {family.name for family in OURS} == set(TAGS)
    assert {tag.kind for tag in TAGS.values()} == set(MEANING)


def test_the_page_is_current_and_names_everything(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--check"]) == 0, capsys.readouterr().err
    text = PATH.read_text(encoding="utf-8")
    for name in [f"`{family.name}`" for family in OURS] + [f"| {oracle.name} |" for oracle in ORACLES]:
        assert text.count(name) == 1


def test_an_old_page_is_told_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    old = PATH.read_text(encoding="utf-8").replace("Fidelity", "Faith")
    page = tmp_path / "fidelity.md"
    page.write_text(old, encoding="utf-8")
    monkeypatch.setattr("tests.oracles.fidelity.PATH", page)
    assert main(["--check"]) == 1
    assert "-# Faith" in capsys.readouterr().err
    assert main([]) == 0
    assert page.read_text(encoding="utf-8") == document()


@pytest.mark.parametrize(
    ("found", "wanted", "equal"),
    [
        ("reached 1.05 %", "reached 1.06 %", True),
        ("reached 1.99 %", "reached 2.00 %", True),
        ("reached 1,044.7", "reached 1,044.8", True),
        ("reached 999.9", "reached 1,000.0", True),
        ("reached 1.05 %", "reached 1.07 %", False),
        ("reached 1.05 %", "reached 1.1 %", False),
        ("asked 5 %", "asked 6 %", False),
        ("reached 1.05 %", "missed 1.05 %", False),
        ("one 1.05", "one 1.05, two 2.0", False),
    ],
)
def test_one_unit_in_the_last_decimal_is_forgiven(found: str, wanted: str, equal: bool) -> None:
    assert same(found, wanted) is equal
