"""Metric families as text: the Prometheus text format 0.0.4 and OpenMetrics 1.0.

Speed comes from doing nothing per series but joining: a caller prepares the label text of a GPU or rank once (a
*head*), values are turned into text family by family, and a line is name, head and value.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from functools import lru_cache
from types import MappingProxyType

from exporter.catalogue import Family


class Format(Enum):
    """An exposition format; the value is its exact content type."""

    TEXT = "text/plain; version=0.0.4; charset=utf-8"
    OPENMETRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8"

    @property
    def ending(self) -> str:
        """What the page must end with."""
        return "# EOF\n" if self is Format.OPENMETRICS else ""


def escape_label(value: str) -> str:
    """`value` as it may stand between the quotes of a label."""
    if "\\" in value or '"' in value or "\n" in value:
        return value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
    return value


def escape_help(text: str, format_: Format) -> str:
    """`text` as it may stand behind `# HELP`; only OpenMetrics escapes quotes there."""
    escaped = text.replace("\\", r"\\").replace("\n", r"\n")
    return escaped.replace('"', r"\"") if format_ is Format.OPENMETRICS else escaped


@lru_cache(maxsize=2048)
def header(family: Family, format_: Format) -> str:
    """The `# HELP` and `# TYPE` lines of a family."""
    if format_ is Format.OPENMETRICS:
        name, kind = family.openmetrics_name, family.openmetrics_type
    else:
        name, kind = family.name, family.type
    return f"# HELP {name} {escape_help(family.help, format_)}\n# TYPE {name} {kind}\n"


def inner(labels: Iterable[tuple[str, str]]) -> str:
    """Label text without braces: `run="a",rank="0"`."""
    return ",".join([f'{name}="{escape_label(value)}"' for name, value in labels])


def head(labels: Iterable[tuple[str, str]]) -> str:
    """Everything between a sample's name and its value: `{run="a"} `, or one blank without labels."""
    text = inner(labels)
    return f"{{{text}}} " if text else " "


def number(value: float) -> str:
    """The shortest text that gives back exactly `value`; NaN, +Inf and -Inf in Prometheus' spelling."""
    if math.isfinite(value):
        return repr(value)
    if math.isnan(value):
        return "NaN"
    return "+Inf" if value > 0 else "-Inf"


def numbers(family: Family, values: Sequence[float]) -> list[str]:
    """Texts of finite `values` in the spelling of the family: `%d`, `%f` or shortest. Ints must arrive as int."""
    if family.number == "int":
        return list(map(str, values))
    if family.number == "double":
        return ("%f " * len(values) % tuple(values)).split()
    return list(map(repr, values))


def lines(name: str, heads: Sequence[str], values: Sequence[str]) -> str:
    """One line for each head and its value. ValueError when there are not as many of both."""
    if not heads:
        return ""
    # Names, heads and values interleaved by slice assignment: twice as fast as a string per line.
    pieces = [f"\n{name}"] * (3 * len(heads))
    pieces[0] = name
    pieces[1::3] = heads
    pieces[2::3] = values
    pieces.append("\n")
    return "".join(pieces)


def histogram(
    family: Family, labels: Iterable[tuple[str, str]], *, bounds: Sequence[float], counts: Sequence[int], total: float,
    marks: Mapping[int, str] = MappingProxyType({}),
) -> str:  # fmt: skip
    """Lines of a classic histogram. `counts` are cumulative, one per bound and one for +Inf; `total` is the sum of what
    was observed; `marks` are exemplars by index of the bucket.
    """
    opened = "{" + inner(labels)
    text = [
        f'{family.name}_bucket{opened},le="{number(bound)}"}} {count}{marks.get(index, "")}\n'
        for index, (bound, count) in enumerate(zip((*bounds, math.inf), counts, strict=True))
    ]
    text.append(f"{family.name}_sum{opened}}} {number(total)}\n")
    text.append(f"{family.name}_count{opened}}} {counts[-1]}\n")
    return "".join(text)


def samples(family: Family, rows: Iterable[tuple[Mapping[str, str], float]], format_: Format) -> str:
    """Header and lines of a small family from plain label mappings, labels in the catalogue's order."""
    text = [header(family, format_)]
    for labels, value in rows:
        assert tuple(labels) == family.labels, (family.name, tuple(labels))
        shown = str(int(value)) if family.number == "int" and math.isfinite(value) else number(value)
        text.append(f"{family.name}{head(labels.items())}{shown}\n")
    return "".join(text)
