"""The workbook beside the console: its Markdown as plain pages, without the internet."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from fastapi import APIRouter
from markdown_it import MarkdownIt
from starlette.responses import HTMLResponse, RedirectResponse

from stepscope.api.problems import ProblemError
from stepscope.api.routes.page import STRICT, WEB

router = APIRouter(include_in_schema=False)

LANGUAGES = ("en", "fr")
FIRST = "/workbook/en/README.md"
_PACKAGE = WEB.parent
# A wheel brings the pages inside the package; in the repository they lie where people look for documents.
_PLACES = (_PACKAGE / "workbook", _PACKAGE.parent / "docs" / "workbook")
_BACK = {"en": "Back to the console", "fr": "Retour à la console (en anglais)"}


@router.get("/workbook")
def workbook() -> RedirectResponse:
    """The table of contents."""
    return RedirectResponse(FIRST)


@router.get("/workbook/{language}/{name}")
def page(language: str, name: str) -> HTMLResponse:
    """One of its pages, under the name of its file: the links between them are good here as they are there."""
    if language not in LANGUAGES or name not in names():
        raise ProblemError(404, "not-found", f"There is no such page; {FIRST} lists what there is.")
    headers = {"Content-Security-Policy": STRICT, "Cache-Control": "no-cache", "Referrer-Policy": "no-referrer"}
    return HTMLResponse(_html(language, name), headers=headers)


@cache
def folder() -> Path:
    """Where the pages are."""
    return next(place for place in _PLACES if place.is_dir())


@cache
def names() -> tuple[str, ...]:
    """File names of its pages, the same in every language."""
    return tuple(sorted(path.name for path in (folder() / LANGUAGES[0]).glob("*.md")))


@cache
def _html(language: str, name: str) -> str:
    text = (folder() / language / name).read_text(encoding="utf-8")
    # The pages are this project's own: folded answers are written as HTML in them.
    body = MarkdownIt("commonmark", {"html": True}).render(text)
    title = text.splitlines()[0].removeprefix("# ")
    return f"""<!doctype html>
<html lang="{language}">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <meta name="color-scheme" content="light dark">
  <title>{title}</title>
  <link rel="icon" href="/web/icon.svg" type="image/svg+xml">
  <link rel="stylesheet" href="/web/style.css">
  <link rel="stylesheet" href="/web/workbook.css">
</head>
<body>
<nav aria-label="stepscope"><a href="/">{_BACK[language]}</a></nav>
<main>
{body}</main>
</body>
</html>
"""
