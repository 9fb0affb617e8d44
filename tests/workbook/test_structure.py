from __future__ import annotations

import re

import pytest

from stepscope.api.routes.workbook import LANGUAGES, folder
from tests.workbook.pages import EXERCISES, PAGES, page

SECTIONS = {
    "en": ["Goal", "Steps", "Questions", "Hints", "Answers"],
    "fr": ["Objectif", "Étapes", "Questions", "Indices", "Réponses"],
}
FOLDED = {"en": ("Hint", "Answer"), "fr": ("Indice", "Réponse")}


def test_there_are_six_exercises_in_every_language() -> None:
    assert [name[0] for name in EXERCISES] == list("123456")
    for language in LANGUAGES:
        assert {path.name for path in (folder() / language).iterdir()} == {"README.md", *EXERCISES}


@pytest.mark.parametrize(("language", "name"), [(one, name) for one, name in PAGES if name != "README.md"])
def test_each_exercise_has_its_parts_and_folds_what_should_be_found(language: str, name: str) -> None:
    found = page(language, name)
    assert re.findall(r"^## (.*)$", found.text, re.MULTILINE) == SECTIONS[language]
    assert found.text.startswith(f"# {name[0]}. ")
    questions = len(re.findall(r"(?:^| )\d\. ", found.section(2)))
    hint, answer = FOLDED[language]
    hints = re.findall(rf"<summary>{hint} (\d)</summary>", found.section(3))
    answers = re.findall(rf"<summary>{answer} (\d)</summary>", found.answers)
    assert hints == [str(number + 1) for number in range(len(hints))] != []
    assert answers == [str(number + 1) for number in range(questions)] != []
    assert found.text.count("<details>") == found.text.count("</details>") == len(hints) + len(answers)


@pytest.mark.parametrize("name", ["README.md", *EXERCISES])
def test_the_languages_have_one_structure(name: str) -> None:
    english, french = page("en", name), page("fr", name)
    assert english.levels == french.levels
    assert english.blocks == french.blocks
    assert english.text.count("<summary>") == french.text.count("<summary>")
    for sign in (r"^ *\d\. ", r"\]\((?!\.\.)([^)]*)\)", r"`[^`\n]+`"):
        assert len(re.findall(sign, english.text, re.MULTILINE)) == len(re.findall(sign, french.text, re.MULTILINE)), (
            sign
        )


@pytest.mark.parametrize(("language", "name"), PAGES)
def test_every_link_leads_somewhere(language: str, name: str) -> None:
    for link in re.findall(r"\]\(([^)]*)\)", page(language, name).text):
        assert (folder() / language / link).is_file(), link
