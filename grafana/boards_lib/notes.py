"""Text on a board, for what must be read before its panels make sense."""

from __future__ import annotations

from grafana_foundation_sdk.builders import text
from grafana_foundation_sdk.models.text import TextMode


def note(title: str, markdown: str) -> text.Panel:
    """A panel of Markdown."""
    return text.Panel().title(title).mode(TextMode.MARKDOWN).content(markdown)
