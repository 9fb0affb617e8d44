"""Two readers of our own pages: a strict one, independent of the renderer, and prometheus_client's."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from prometheus_client import Metric
from prometheus_client import parser as text_parser
from prometheus_client.openmetrics import parser as openmetrics_parser

Labels = tuple[tuple[str, str], ...]

_LABEL = r'[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\[\\"n])*"'
_SAMPLE = re.compile(
    rf"(?P<name>[a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{{(?P<labels>{_LABEL}(?:,{_LABEL})*)\}})? (?P<value>\S+)"
    rf"(?P<exemplar> # \{{{_LABEL}(?:,{_LABEL})*\}} \S+ \S+)?"
)
_ONE_LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"')
_UNESCAPED = {r"\\": "\\", r"\"": '"', r"\n": "\n"}


@dataclass(frozen=True)
class Sample:
    """One line: labels in written order, the value as written."""

    name: str
    labels: Labels
    text: str
    exemplar: str

    @property
    def value(self) -> float:
        return float(self.text)


@dataclass
class Exposition:
    """One page."""

    types: dict[str, str] = field(default_factory=dict)
    helps: dict[str, str] = field(default_factory=dict)
    samples: list[Sample] = field(default_factory=list)

    def of(self, name: str) -> list[Sample]:
        return [sample for sample in self.samples if sample.name == name]

    def value(self, name: str, /, **labels: str) -> float:
        found = [s for s in self.of(name) if labels.items() <= dict(s.labels).items()]
        assert len(found) == 1, (name, labels, found)
        return found[0].value


def read(body: bytes) -> Exposition:
    """The page, or AssertionError where it breaks the format: order, repetition, syntax, duplicates."""
    text = body.decode("utf-8")
    assert text.endswith("\n")
    page = Exposition()
    family = ""
    for line in text.split("\n")[:-1]:
        if line == "# EOF":
            break
        if line.startswith("# HELP "):
            family, _, help_text = line.removeprefix("# HELP ").partition(" ")
            assert family not in page.helps, f"{family} stands twice"
            page.helps[family] = help_text
        elif line.startswith("# TYPE "):
            name, _, kind = line.removeprefix("# TYPE ").partition(" ")
            assert name == family
            page.types[name] = kind
        else:
            page.samples.append(_sample(line, family))
    assert page.types.keys() == page.helps.keys()
    keys = [(sample.name, frozenset(sample.labels)) for sample in page.samples]
    assert len(set(keys)) == len(keys), "a series stands twice"
    return page


def _sample(line: str, family: str) -> Sample:
    match = _SAMPLE.fullmatch(line)
    assert match is not None, line
    name = match["name"]
    assert re.fullmatch(rf"{family}(_total|_bucket|_sum|_count)?", name), f"{name} stands under {family}"
    labels = tuple((key, _unescape(value)) for key, value in _ONE_LABEL.findall(match["labels"] or ""))
    return Sample(name, labels, match["value"], match["exemplar"] or "")


def _unescape(value: str) -> str:
    return re.sub(r"\\[\\\"n]", lambda match: _UNESCAPED[match[0]], value)


def official(text: str, *, openmetrics: bool) -> list[Metric]:
    """The families that prometheus_client's own parser reads."""
    parser = openmetrics_parser if openmetrics else text_parser
    return list(parser.text_string_to_metric_families(text))
