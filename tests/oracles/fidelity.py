"""docs/fidelity.md: `python -m tests.oracles.fidelity` writes it, `--check` fails when it is out of date.

The check forgives one unit in the last printed decimal, since other processors and libraries round differently.
"""

from __future__ import annotations

import argparse
import difflib
import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from textwrap import fill

from exporter.catalogue import (
    DCGM_FAMILIES,
    ENGINE_FAMILIES,
    EXPORTER_FAMILIES,
    NODE_FAMILIES,
    PROCESS_FAMILIES,
    RANK_FAMILIES,
    RUN_FAMILIES,
    TRUTH_FAMILIES,
    Family,
)
from tests.oracles.oracle import Oracle
from tests.oracles.oracles import ORACLES, SUBJECTS, Subject
from tests.oracles.tags import MEANING, TAGS

PATH = Path(__file__).resolve().parents[2] / "docs" / "fidelity.md"

_INTRO = """# Fidelity

<!-- Written by `python -m tests.oracles.fidelity`. Do not edit. -->

How far the model is from what others have measured, and which metrics may be believed how far.
"""

_ORACLES = """## Oracles

An oracle is a published number that the model must come near. *Asked* is the limit, *reached* what the model does now;
a test demands each. Where *reached* has no unit it is a plain number. Files, sources and licences of the data are
listed in `tests/data/SOURCES.md`. Numbers that somebody only remembered are not oracles.
"""

_METRICS = """## Metrics

Every family of [METRICS.md](../METRICS.md), as the simulated source exports it.
"""

_GROUPS: tuple[tuple[str, tuple[Family, ...]], ...] = (
    ("GPU", DCGM_FAMILIES),
    ("Training", RANK_FAMILIES + NODE_FAMILIES + RUN_FAMILIES),
    ("Exporter, engine and process", EXPORTER_FAMILIES + ENGINE_FAMILIES + PROCESS_FAMILIES),
    ("Truth", TRUTH_FAMILIES),
)
_WIDTH = 120
_NUMBER = re.compile(r"(\d[\d,]*\.\d+)")


def document() -> str:
    """The whole of docs/fidelity.md; runs every oracle."""
    missed = [oracle for oracle in ORACLES if not oracle.holds()]
    count = f"{len(ORACLES)} oracles: {len(ORACLES) - len(missed)} met, {len(missed)} missed."
    parts = [_INTRO, _ORACLES, count]
    if missed:
        parts.append(
            "\n".join(_item(f"**{oracle.name}** misses: {oracle.miss or 'unexplained'}.") for oracle in missed)
        )
    parts += [_subject(subject) for subject in SUBJECTS]
    kinds = [f"* **{kind}**: {meaning}" for kind, meaning in MEANING.items()]
    parts += [_METRICS, "\n".join(kinds), *(_group(title, families) for title, families in _GROUPS)]
    return "\n".join(part.rstrip("\n") + "\n" for part in parts)


def same(found: str, wanted: str) -> bool:
    """Whether two documents differ at most by one in the last decimal of a number."""
    one, other = _NUMBER.split(found), _NUMBER.split(wanted)
    return len(one) == len(other) and all(
        a == b or (index % 2 == 1 and _near(a, b)) for index, (a, b) in enumerate(zip(one, other, strict=True))
    )


def _near(a: str, b: str) -> bool:
    decimals = len(a.split(".")[1])
    if decimals != len(b.split(".")[1]):
        return False
    return abs(int(re.sub("[,.]", "", a)) - int(re.sub("[,.]", "", b))) <= 1


def _subject(subject: Subject) -> str:
    rows = [(oracle.name, oracle.what, oracle.asked, _reached(oracle)) for oracle in subject.oracles]
    lines = [f"### {subject.title}", "", *_table(["oracle", "what", "asked", "reached"], rows), ""]
    sources: dict[str, list[str]] = {}
    for oracle in subject.oracles:
        sources.setdefault(oracle.source, []).append(oracle.name)
    if len(sources) == 1:
        lines.append(fill(f"Source: {next(iter(sources))}.", _WIDTH))
    else:
        lines += ["Sources:", "", *(_item(f"{', '.join(names)}: {source}") for source, names in sources.items())]
    return "\n".join(lines + (["", fill(subject.left_out, _WIDTH)] if subject.left_out else []))


def _item(text: str) -> str:
    return fill(f"* {text}", _WIDTH, subsequent_indent="  ", break_on_hyphens=False)


def _reached(oracle: Oracle) -> str:
    return oracle.reached if oracle.holds() else f"**{oracle.reached}**, missed"


def _group(title: str, families: Iterable[Family]) -> str:
    rows = [(f"`{f.name}`", TAGS[f.name].kind, TAGS[f.name].why) for f in families]
    return "\n".join([f"### {title}", "", *_table(["metric", "is", "because"], rows)])


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    lines = ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
    return lines + ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]


def main(arguments: Sequence[str] | None = None) -> int:
    """Write docs/fidelity.md, or compare it with what the model does now; the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.oracles.fidelity", description="docs/fidelity.md from the oracles and the catalogue."
    )
    parser.add_argument("--check", action="store_true", help="write nothing; fail when the file is not up to date")
    options = parser.parse_args(arguments)
    wanted = document()
    if not options.check:
        PATH.write_text(wanted, encoding="utf-8")
        return 0
    found = PATH.read_text(encoding="utf-8") if PATH.exists() else ""
    if same(found, wanted):
        return 0
    sys.stderr.writelines(
        difflib.unified_diff(found.splitlines(True), wanted.splitlines(True), PATH.name, "from the oracles")
    )
    sys.stderr.write(f"docs/{PATH.name} is not up to date: run `python -m tests.oracles.fidelity`\n")
    return 1


if __name__ == "__main__":
    sys.exit(main())
