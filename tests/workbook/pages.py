"""The pages of the workbook, taken apart."""

from __future__ import annotations

import re
from dataclasses import dataclass

from stepscope.api.routes.workbook import LANGUAGES, folder, names

EXERCISES = tuple(name for name in names() if name != "README.md")
PAGES = tuple((language, name) for language in LANGUAGES for name in names())


@dataclass(frozen=True, slots=True)
class Page:
    """One page."""

    language: str
    name: str
    text: str

    @property
    def levels(self) -> list[int]:
        """Level of each heading."""
        return [len(found) for found in re.findall(r"^(#+) ", self.text, re.MULTILINE)]

    @property
    def blocks(self) -> list[str]:
        """What stands in its blocks of code, without their indentation."""
        found = re.findall(r"^( *)```console\n(.*?)^\1```$", self.text, re.MULTILINE | re.DOTALL)
        return ["\n".join(line.removeprefix(indent) for line in body.splitlines()) for indent, body in found]

    @property
    def commands(self) -> list[str]:
        """Every command."""
        return [line.removeprefix("$ ") for block in self.blocks for line in block.splitlines()]

    def section(self, number: int) -> str:
        """The text below its `number`-th heading of level 2, from 0 on, spaces and breaks as single spaces."""
        return " ".join(re.split(r"^## .*$", self.text, flags=re.MULTILINE)[number + 1].split())

    @property
    def answers(self) -> str:
        """All answers."""
        return self.section(4)


def page(language: str, name: str) -> Page:
    """One page."""
    return Page(language, name, (folder() / language / name).read_text(encoding="utf-8"))
