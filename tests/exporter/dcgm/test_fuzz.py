"""Pages that something has happened to: no crash, nothing illegal on our page, work that grows with length, no growth.

Bounded and repeatable: the byte mutations have a fixed seed, and work is counted, not timed.
"""

from __future__ import annotations

import gc
import re
import sys
import tracemalloc
from collections.abc import Callable
from itertools import chain
from types import FrameType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exporter.checked import checked
from exporter.reading import Labels, Reading
from exporter.render import Format
from exporter.sources.dcgm import parser
from exporter.sources.dcgm.normalise import Found, Normaliser
from exporter.sources.dcgm.parser import PARSE_REASONS, parse
from exporter.sources.dcgm.source import DcgmSource
from tests.exporter.dcgm.bench_parse import clean_page
from tests.exporter.dcgm.cases import page, pages
from tests.exporter.dcgm.pages import clean_pages, mutations
from tests.exporter.dcgm.reading import exposed
from tests.exporter.exposition import read

MUTATIONS = 150
"""For each page of the case collection."""


def decoded(data: bytes) -> str:
    return data.decode("utf-8", errors="replace").replace("\0", "\ufffd")


def survive(text: str) -> Found:
    """Everything that the source does with a page, and what must hold whatever the page is."""
    found = parse(text)
    assert set(found.dropped) <= set(PARSE_REASONS)
    assert len(found.rows) + sum(found.dropped.values()) <= text.count("\n") + 1
    understood = Normaliser(hostname="me", hostname_label="Hostname")(found)
    assert set(understood.dropped) <= set(DcgmSource.drop_reasons)
    reading = Reading(families=understood.families, gpus=tuple(understood.gpus.values()), expected=0)
    assert checked(reading).families == understood.families
    assert checked(reading).gpus == reading.gpus
    shown = exposed(understood.families.items())
    if shown:
        names: list[tuple[str, frozenset[tuple[str, str]]]] = []
        for sample in read(shown.encode()).samples:
            assert abs(sample.value) <= 2.0**63
            names.append((sample.name, frozenset(sample.labels)))
        assert len(set(names)) == len(names)
    read_again = exposed(understood.families.items(), Format.OPENMETRICS)
    assert read_again.endswith("# EOF\n")
    return understood


@pytest.mark.parametrize("text", pages())
def test_mutated_pages(text: str) -> None:
    for data in mutations(text, count=MUTATIONS, seed=len(text)):
        survive(decoded(data))


@given(clean_pages(), st.randoms(use_true_random=False))
def test_mutated_made_up_pages(text: str, random_: Any) -> None:
    for data in mutations(text.replace("\n", "\nDCGM_FI_DEV_"), count=3, seed=random_.randrange(2**32)):
        survive(decoded(data))


@given(st.text(max_size=200))
def test_any_text(text: str) -> None:
    survive(text)
    survive(f'DCGM_FI_DEV_GPU_UTIL{{{text}}} 5\nDCGM_FI_DEV_GPU_UTIL{{gpu="{text}"}} 5\nDCGM_FI_DEV_GPU_UTIL {text}\n')


@given(st.text(alphabet='a{}=",\\ \t#15.e\nDCGM_"x', max_size=60))
def test_text_of_the_signs_that_matter(text: str) -> None:
    survive(f"DCGM_{text}\n")


@given(st.binary(max_size=300))
def test_any_bytes(data: bytes) -> None:
    survive(decoded(data))


# Work, counted.

HOSTILE: dict[str, Callable[[int], str]] = {
    "braces": lambda n: "a" + "{" * n + "} 1\n",
    "closing braces": lambda n: "a{" + "} " * n + "1\n",
    "quotes": lambda n: "a{b=" + '"' * n + "} 1\n",
    "backslashes": lambda n: 'a{b="' + "\\" * n + '"} 1\n',
    "escaped quotes": lambda n: 'a{b="' + '\\"' * n,
    "commas": lambda n: "a{" + "," * n + "} 1\n",
    "blanks": lambda n: "a" + " " * n + "{" + "\t" * n + 'b="c"' + " " * n + "}" + " " * n + "x\n",
    "digits": lambda n: "a " + "1" * n + "x\n",
    "labels": lambda n: "a{" + ",".join(f'b{i}="c"' for i in range(n)) + "} 1\n",
    "labels without end": lambda n: "a{" + ",".join(f'b{i}="c"' for i in range(n)) + "\n",
    "name": lambda n: "a" * n + "-\n",
    "lines": lambda n: "a 1\n" * n,
    "bad lines": lambda n: "a{ 1\n" * n,
    "empty lines": lambda n: "\n" * n,
    "different labels": lambda n: "".join(f'a{{b="{i}"}} 1\n' for i in range(n)),
    "comments": lambda n: "# HELP a b\n" * n,
    "one comment": lambda n: "# HELP a" + " " * n + "\\\\" * n + "\n",
    "hashes": lambda n: "a 1 " + "# " * n + "\n",
    "no line end": lambda n: "a 1" * n,
}


def steps(work: Callable[[], object]) -> int:
    """Lines of our code that `work` runs."""
    count = 0

    def trace(frame: FrameType, event: str, _: object) -> Any:
        nonlocal count
        count += event == "line"
        return trace if "exporter" in frame.f_code.co_filename else None

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
    return count


@pytest.mark.parametrize("kind", HOSTILE)
def test_work_grows_no_faster_than_the_page(kind: str) -> None:
    small, large = HOSTILE[kind](200), HOSTILE[kind](1_600)

    def understand(text: str) -> Callable[[], object]:
        return lambda: Normaliser(hostname="me", hostname_label="Hostname")(parse(text))

    few, many = steps(understand(small)), steps(understand(large))
    assert few > 0
    assert many <= 8.5 * few + 200, (few, many)


def test_known_labels_are_not_read_again() -> None:
    few, many = (clean_page(families=count, gpus=4) for count in (2, 22))
    assert steps(lambda: parse(many)) - steps(lambda: parse(few)) < 20 * 4 * 8 + 20 * 2 * 20


PATTERNS = [(name, value) for name, value in vars(parser).items() if isinstance(value, re.Pattern)]


@pytest.mark.parametrize(("name", "pattern"), PATTERNS)
def test_no_pattern_ever_goes_back(name: str, pattern: re.Pattern[str]) -> None:
    # A quantifier without a `+` behind it may give back what it took, which is what makes patterns explode.
    without_classes = re.sub(r"\\.|\[(?:\\.|[^\]\\])*\]", "x", pattern.pattern).replace("(?", "(")
    quantifiers = re.findall(r"(?:[*+?]|\{[\d,]+\})\+?", without_classes)
    assert all(len(found) > 1 and found.endswith("+") for found in quantifiers), (name, quantifiers)


def test_patterns_are_looked_at() -> None:
    assert len(PATTERNS) >= 10


def test_a_page_of_a_million_odd_lines_is_bounded() -> None:
    found = parse("".join(chain.from_iterable(("a{ 1\n", "\n") for _ in range(500_000))))
    assert sum(found.dropped.values()) <= 1_000_000
    assert found.dropped["syntax"] == parser.MAX_LINES // 2


# Growth.


def test_nothing_is_kept_of_pages_that_never_repeat() -> None:
    normaliser = Normaliser(hostname="me", hostname_label="Hostname")

    def read_one(index: int) -> Found:
        labels: Labels = (("gpu", str(index)), ("UUID", f"GPU-{index}"), ("pod", f"p{index}" * 50))
        inside = ",".join(f'{name}="{value}"' for name, value in labels)
        text = "".join(
            f"# HELP DCGM_X{n} {index}\nDCGM_X{n}{{{inside}}} {index}\nDCGM_X{n}{{bad{index}\n" for n in range(5)
        )
        return normaliser(parse(text))

    for index in range(200):
        read_one(index)
    gc.collect()
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        for index in range(200, 1_200):
            read_one(index)
        gc.collect()
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert after - before < 20_000


def test_the_cases_are_among_the_pages() -> None:
    assert page("02") in pages()
