"""Prometheus text and OpenMetrics read line by line: a bad line costs itself, is counted, and nothing else.

Almost every line of a dcgm-exporter repeats the labels of the family before, so the text between the braces is
understood once and then looked up; whatever looks odd takes the slow path, which knows the whole grammar. Quantifiers
are possessive: no pattern ever goes back, so work grows with the length of the page whatever it contains.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from exporter.reading import Labels

MAX_LINES = 200_000
"""Lines of a page that are read. Eight partitioned GPUs with every field there is make some ten thousand."""
MAX_LINE_LENGTH = 65_536
"""Characters of a line that is read."""
MAX_VALUE_LENGTH = 400
"""Characters of a value that is read: `%f` of the greatest double has 316."""

PARSE_REASONS = ("unparsable", "syntax", "truncated", "limit")
"""Why a line is left out: its value is no number; it is malformed; it was cut off; it is one too many, or too long."""

_FAST_NUMBER = re.compile(r"-?+[0-9]{1,18}+(\.[0-9]{1,18}+)?+")
_NAME = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*+")
_LABEL_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*+")
_LABEL = re.compile(r'[ \t]*+([^\s="{},]++)[ \t]*+=[ \t]*+"((?:[^"\\]++|\\.)*+)"[ \t]*+')
_BLANKS = re.compile(r"[ \t]*+")
_TAIL = re.compile(r"[ \t]*+([^ \t#]++)(?:[ \t]++([^ \t#]++))?+[ \t]*+(?:#.*+)?+")
_INT = re.compile(r"[+-]?+[0-9]++")
_FLOAT = re.compile(r"[+-]?+(?:[0-9]++(?:\.[0-9]*+)?+|\.[0-9]++)(?:[eE][+-]?+[0-9]++)?+")
_WORD = re.compile(r"(?i:[+-]?+(?:inf|nan))")
_COMMENT = re.compile(r"#[ \t]++(HELP|TYPE)[ \t]++([a-zA-Z_:][a-zA-Z0-9_:]*+)(?:[ \t]++(.*+))?+")
_EOF = re.compile(r"#[ \t]++EOF[ \t\r]*+")
_LABEL_ESCAPE = re.compile(r'\\([\\n"])')
_HELP_ESCAPE = re.compile(r"\\([\\n])")
_NOT_IN_A_NAME = re.compile(r"[^a-zA-Z0-9_]")


class Row(NamedTuple):
    """One sample line; its timestamp and exemplar are not kept."""

    name: str
    labels: Labels
    """As written, escapes decoded, empty values included; characters that a name may not have are `_`."""
    value: int | float
    """An int where the text has neither point nor exponent; NaN and infinities are legal here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """What could be read, and how much could not."""

    rows: list[Row]
    """In the order of the page."""
    types: Mapping[str, str]
    """Second word of `# TYPE`, lower case, by first."""
    helps: Mapping[str, str]
    """Text of `# HELP`, escapes decoded, by name."""
    dropped: Mapping[str, int]
    """Lines left out, by PARSE_REASONS; those that are not among them are missing."""
    truncated: bool
    """Whether the last line has no end, so that more may be missing."""


def parse(text: str) -> Page:
    """All samples of `text`. Never raises; keeps nothing of one page for the next."""
    types: dict[str, str] = {}
    helps: dict[str, str] = {}
    dropped: Counter[str] = Counter()
    lines = text.split("\n", MAX_LINES)
    last = lines.pop()
    truncated = _count_rest(last, dropped, full=len(lines) == MAX_LINES)
    rows: list[Row] = []
    known: dict[str, Labels] = {}
    names = set[str]()
    number, keep = _FAST_NUMBER.fullmatch, rows.append
    for line in lines:
        name, _, rest = line.partition("{")
        inside, _, tail = rest.rpartition("} ")
        labels = known.get(inside)
        # Only an `inside` that the whole grammar has accepted is known, so that a brace within quotes does no harm.
        if labels is not None and name in names and (plain := number(tail)) is not None:
            keep(Row(name, labels, int(tail) if plain[1] is None else float(tail)))
        elif not line or line.isspace():
            continue
        elif line.lstrip(" \t").startswith("#"):
            if _EOF.fullmatch(line):
                truncated = False
                break
            if told := _comment(line, types, helps):
                names.add(told)
        else:
            row = _row(line, known)
            if isinstance(row, str):
                dropped[row] += 1
            else:
                names.add(row.name)
                keep(row)
    return Page(rows=rows, types=types, helps=helps, dropped=dropped, truncated=truncated)


def _count_rest(last: str, dropped: Counter[str], *, full: bool) -> bool:
    """Count what follows the last line feed that was looked at; whether the page ends within a line."""
    if full:
        dropped["limit"] += last.count("\n")
        last = last.rpartition("\n")[2]
    if not last.strip() or _EOF.fullmatch(last):
        return False
    if not last.startswith("#"):
        dropped["truncated"] += 1
    return True


def _comment(line: str, types: dict[str, str], helps: dict[str, str]) -> str:
    """The name that the comment is about; empty for another comment."""
    found = _COMMENT.fullmatch(line.strip(" \t\r")) if len(line) <= MAX_LINE_LENGTH else None
    if found is None:
        return ""
    kind, name, text = found[1], found[2], found[3] or ""
    if kind == "TYPE":
        types.setdefault(name, text.lower())
    else:
        helps.setdefault(name, _decoded(text, _HELP_ESCAPE))
    return name


def _row(line: str, known: dict[str, Labels]) -> Row | str:
    """The sample that `line` holds, or why it holds none; adds its label text to `known`."""
    if len(line) > MAX_LINE_LENGTH:
        return "limit"
    line = line.strip(" \t\r")
    name = _NAME.match(line)
    if name is None:
        return "syntax"
    at = _skip_blanks(line, name.end())
    labels: Labels = ()
    if line.startswith("{", at):
        read = _labels(line, at + 1)
        if read is None:
            return "syntax"
        labels, end = read
        known[line[at + 1 : end - 1]] = labels
        at = end
    elif at == name.end() < len(line):
        return "syntax"
    value = _value(line, at)
    return "unparsable" if value is None else Row(name[0], labels, value)


def _labels(line: str, at: int) -> tuple[Labels, int] | None:
    """Labels from behind the opening brace, and where the text behind the closing one starts; None when malformed."""
    found: dict[str, str] = {}
    while True:
        at = _skip_blanks(line, at)
        if line.startswith("}", at):
            return tuple(found.items()), at + 1
        label = _LABEL.match(line, at)
        if label is None:
            return None
        name = _label_name(label[1])
        if name is None or name in found:
            return None
        found[name] = _decoded(label[2], _LABEL_ESCAPE)
        at = label.end()
        if line.startswith(",", at):
            at += 1
        elif not line.startswith("}", at):
            return None


def _label_name(written: str) -> str | None:
    """The name, with `_` for what a name may not have; None for one that is reserved."""
    name = written
    if not _LABEL_NAME.fullmatch(name):
        name = _NOT_IN_A_NAME.sub("_", name)
        name = f"_{name}" if name[0].isdigit() else name
    return None if name.startswith("__") else name


def _value(line: str, at: int) -> int | float | None:
    """The value that stands at `at`; None when it is no number, or not followed by a timestamp or by nothing."""
    tail = _TAIL.fullmatch(line, at)
    if tail is None or (tail[2] is not None and _FLOAT.fullmatch(tail[2]) is None):
        return None
    text = tail[1]
    if len(text) > MAX_VALUE_LENGTH:
        return None
    if _INT.fullmatch(text):
        return int(text)
    # Python alone would also take `1_024`, `infinity` and digits of other scripts, which Prometheus does not.
    return float(text) if _FLOAT.fullmatch(text) or _WORD.fullmatch(text) else None


def _skip_blanks(line: str, at: int) -> int:
    blanks = _BLANKS.match(line, at)
    assert blanks is not None
    return blanks.end()


def _decoded(text: str, escape: re.Pattern[str]) -> str:
    return escape.sub(lambda found: "\n" if found[1] == "n" else found[1], text) if "\\" in text else text
