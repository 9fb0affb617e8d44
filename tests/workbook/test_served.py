from __future__ import annotations

import re

import pytest

from tests.api.conftest import Bench, problem
from tests.workbook.pages import PAGES, page


@pytest.fixture
def bench() -> Bench:
    return Bench()


@pytest.mark.parametrize(("language", "name"), PAGES)
def test_each_page_is_served_whole_and_loads_nothing_from_elsewhere(bench: Bench, language: str, name: str) -> None:
    answer = bench.client.get(f"/workbook/{language}/{name}")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.headers["content-security-policy"].startswith("default-src 'self'")
    found = page(language, name)
    assert f'<html lang="{language}">' in answer.text
    assert answer.text.count("<details>") == answer.text.count("</details>") == found.text.count("<details>")
    assert answer.text.count("<pre>") == len(found.blocks)
    assert len(re.findall(r"<h[1-6]>", answer.text)) == len(found.levels)
    assert "```" not in answer.text
    assert not re.search(r"<script|\son\w+=|style=", answer.text)
    for link in re.findall(r'(?:href|src)="([^"]+)"', answer.text):
        if link != "http://127.0.0.1:8000":
            assert bench.client.get(str(answer.url.join(link))).status_code == 200, link


def test_the_console_leads_to_it(bench: Bench) -> None:
    assert 'href="/workbook"' in bench.client.get("/").text
    assert bench.client.get("/workbook").url.path == "/workbook/en/README.md"


@pytest.mark.parametrize("path", ["de/README.md", "en/nothing.md", "en/..%2f..%2fREADME.md", "en/1-is-99-good.md%00"])
def test_nothing_else_is_served(bench: Bench, path: str) -> None:
    problem(bench.client.get(f"/workbook/{path}"), 404)
