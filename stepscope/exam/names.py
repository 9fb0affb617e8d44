"""Display names: what others see of a participant, and text that nobody vouches for."""

from __future__ import annotations

import unicodedata

MAX_NAME = 40
"""Characters of a name at most."""
_SPACES = frozenset({"Zl", "Zp"})


def checked_name(raw: str) -> str:
    """The name as it is shown: NFC, single spaces. ValueError for one that nobody could read.

    Control characters, marks that change the direction of text, unassigned and private characters are refused: they
    would make one name look like another. What looks like markup is text as any other.
    """
    name = " ".join(unicodedata.normalize("NFC", raw).split(" ")).strip()
    while "  " in name:
        name = name.replace("  ", " ")
    if not 1 <= len(name) <= MAX_NAME:
        raise ValueError(f"name: must have 1 to {MAX_NAME} characters")
    kinds = {unicodedata.category(character) for character in name}
    if any(kind.startswith("C") or kind in _SPACES for kind in kinds):
        raise ValueError("name: must not hold control, formatting, private or unassigned characters")
    if not any(kind[0] in "LN" for kind in kinds):
        raise ValueError("name: must hold a letter or a digit")
    return name


def same_name_key(name: str) -> str:
    """Equal for two names that a reader would take for one: case, width and compatibility forms do not count."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold()).replace(" ", "")
