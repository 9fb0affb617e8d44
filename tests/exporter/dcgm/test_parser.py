"""The line parser: equal to the reference on clean pages, and one bad line costs one line on others."""

from __future__ import annotations

import math
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exporter.sources.dcgm import parser
from exporter.sources.dcgm.parser import Page, Row, parse
from tests.exporter.dcgm.cases import page, pages
from tests.exporter.dcgm.pages import LABEL_NAMES, NAMES, NUMBERS, TEXTS, clean_pages, line
from tests.exporter.exposition import official

GOOD = 'good{a="b"} 1\n'


def one(text: str) -> Row:
    (row,) = parse(text).rows
    return row


def rows_of_reference(text: str) -> Iterator[tuple[str, dict[str, str], float]]:
    for family in official(text, openmetrics=False):
        for sample in family.samples:
            yield sample.name, sample.labels, sample.value


def again(found: Page) -> str:
    return "".join(line(name, dict(labels), value) for name, labels, value in found.rows)


@given(clean_pages())
def test_clean_pages_are_read_as_the_reference_reads_them(text: str) -> None:
    found = parse(text)
    assert found.dropped == {}
    assert not found.truncated
    assert [(row.name, dict(row.labels), row.value) for row in found.rows] == list(rows_of_reference(text))
    reference = {family.name: family for family in official(text, openmetrics=False)}
    for name, kind in found.types.items():
        assert reference[name].type == {"untyped": "unknown"}.get(kind, kind)
        assert reference[name].documentation == found.helps[name]


@given(clean_pages())
def test_round_trip(text: str) -> None:
    found = parse(text)
    assert parse(again(found)).rows == found.rows


@pytest.mark.parametrize("text", pages())
def test_round_trip_of_the_cases(text: str) -> None:
    found = parse(text)
    back = parse(again(found))
    assert [(row.name, row.labels) for row in back.rows] == [(row.name, row.labels) for row in found.rows]
    for old, new in zip(found.rows, back.rows, strict=True):
        assert old.value == new.value or (math.isnan(old.value) and math.isnan(new.value))


@given(NAMES, st.dictionaries(LABEL_NAMES, TEXTS, min_size=1, max_size=5), NUMBERS)
def test_the_fast_path_and_the_slow_one_agree(name: str, labels: dict[str, str], value: float) -> None:
    written = line(name, labels, value)
    # The second time the labels are known; a blank before the name always takes the slow path.
    first, second, slow = parse(written + written + " " + written).rows
    assert first == second == slow == Row(name, tuple(labels.items()), value)
    assert [type(row.value) for row in (first, second, slow)] == [type(value)] * 3


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", 0), ("+5", 5), ("-5", -5), ("007", 7), ("1.5", 1.5), (".5", 0.5), ("5.", 5.0), ("7e2", 700.0),
        ("1E-3", 0.001), ("1.2e+04", 12_000.0), ("+Inf", math.inf), ("-inf", -math.inf), ("INF", math.inf),
        ("9007199254740993", 9_007_199_254_740_993), ("9223372036854775794", 9_223_372_036_854_775_794),
        ("9" * 390, int("9" * 390)), ("1" + "0" * 308 + ".000000", 1e308), ("1e400", math.inf),
    ],
)  # fmt: skip
def test_values(text: str, value: float) -> None:
    for written in (f"a {text}\n", GOOD.replace("1", text), GOOD + GOOD.replace("1", text)):
        found = parse(written).rows[-1].value
        assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize("text", ["NaN", "nan", "NAN", "+NaN"])
def test_nan_is_a_number_here(text: str) -> None:
    assert math.isnan(float(one(f"a {text}\n").value))


@pytest.mark.parametrize(
    "text",
    [
        "", " ", "N/A", "[N/A]", "ERROR - FAILED TO CONVERT TO STRING", "MIG-GPU-0/3/0", "0x7ffffff0", "1_024",
        "infinity", "-Infinity", "1,024", "12 MiB", "12MiB", "1e", "1e+", ".", "+", "-", "--1", "1.2.3", "٣", "１２",
        "²", "1\u00a02", "1\u20032", "True", "None", "<<<NULL>>>", "9" * 401, "1 2 3", "1 x", '"1"', "1}", "}",
        "5 1753100000000 7",
    ],
)  # fmt: skip
def test_what_is_no_value_costs_its_line(text: str) -> None:
    found = parse(f'{GOOD}bad{{a="b"}} {text}\n{GOOD}bad {text}\n{GOOD}')
    assert found.dropped == {"unparsable": 2}
    assert found.rows == [Row("good", (("a", "b"),), 1)] * 3


@pytest.mark.parametrize(
    "tail",
    ["1 1753100000000", "1   1753100000000", "1\t1753100000000", "1 1753100000.5", "1 -5", " 1", "\t1", "1 ", "1\t",
     "1\r", '1 # {trace_id="a} 2"} 0.5', "1 1753100000 # {} 4 5", "1 # comment"],
)  # fmt: skip
def test_timestamps_exemplars_and_blanks_are_not_kept(tail: str) -> None:
    assert parse(f'{GOOD}a{{b="c"}} {tail}\n').rows[1] == Row("a", (("b", "c"),), 1)
    assert one(f"a {tail}\n") == Row("a", (), 1)


@pytest.mark.parametrize(
    ("written", "labels"),
    [
        ('a{b="c"}1', {"b": "c"}),
        ('a {b="c"} 1', {"b": "c"}),
        ('a\t{ b = "c" , d = "e" } 1', {"b": "c", "d": "e"}),
        ('a{b="c",} 1', {"b": "c"}),
        ("a{} 1", {}),
        ("a{ } 1", {}),
        ('a{b="",d=""} 1', {"b": "", "d": ""}),
        (r'a{b="\\\"\n"} 1', {"b": '\\"\n'}),
        (r'a{b="C:\new\x\\n"} 1', {"b": "C:\new\\x\\n"}),
        ('a{b="}",d="{",e=","} 1', {"b": "}", "d": "{", "e": ","}),
        ('a{b="c} 9"} 1', {"b": "c} 9"}),
        ('a{b="x=\\"y\\"} 2",c="d"} 1', {"b": 'x="y"} 2', "c": "d"}),
        ('a{app.kubernetes.io/name="b",1st="c",grün="d"} 1', {"app_kubernetes_io_name": "b", "_1st": "c", "gr_n": "d"}),
        ('a{b="\r"} 1\r', {"b": "\r"}),
    ],
)
def test_labels(written: str, labels: dict[str, str]) -> None:
    for text in (written, f"{written}\n{written}", f"{GOOD}{written}"):
        row = parse(text + "\n").rows[-1]
        assert (row.name, dict(row.labels), row.value) == ("a", labels, 1)


@pytest.mark.parametrize(
    "written",
    [
        'a{b="the "red" team"} 1', 'a{b="c" d="e"} 1', 'a{b="c",b="d"} 1', 'a{b="c",,d="e"} 1', 'a{,b="c"} 1',
        "a{b=c} 1",
        "a{b='c'} 1", 'a{b="c} 1', 'a{b="c\\"} 1', "a{b} 1", 'a{="c"} 1', 'a{"b"="c"} 1', 'a{b:"c"} 1', 'a{b="c"', "a{",
        '{a="b"} 1', "a{ 1", '{b="c"} 1', '{"a","b"="c"} 1', "1a 1", "ä 1", "a-b 1", 'a{__name__="b"} 1',
        'a{.-b="c"} 1', "} 1", '"a" 1', 'a{a.b="c",a-b="d"} 1', "<html>", "a;b 1",
    ],
)  # fmt: skip
def test_what_is_malformed_costs_its_line(written: str) -> None:
    found = parse(f"# a comment\n#\n{GOOD}{written}\n{GOOD}")
    assert found.dropped == {"syntax": 1}
    assert found.rows == [Row("good", (("a", "b"),), 1)] * 2


def test_a_name_alone_has_no_value() -> None:
    assert parse("a\n").dropped == {"unparsable": 1}


def test_types_and_helps() -> None:
    found = parse(
        "# HELP a some  \\\\ text\\n\n# TYPE a counter\n#HELP b no\n# TYPE b\n#  TYPE\tc\tGAUGE\n# HELP a other\n"
        "# TYPE a gauge\n# a comment\n#\n# UNIT a seconds\n  # TYPE d gauge\r\n# TYPE e.f gauge\n"
    )
    assert found.types == {"a": "counter", "b": "", "c": "gauge", "d": "gauge"}
    assert found.helps == {"a": "some  \\ text\n"}
    assert (found.rows, found.dropped) == ([], {})


@pytest.mark.parametrize("end", ["# EOF\n", "# EOF", "#  EOF \r\n", "# EOF\na 2\n"])
def test_nothing_after_the_end_counts(end: str) -> None:
    found = parse("a 1\n" + end)
    assert (found.rows, found.dropped, found.truncated) == ([Row("a", (), 1)], {}, False)


@pytest.mark.parametrize("text", pages())
def test_a_cut_anywhere_never_makes_up_a_value(text: str) -> None:
    whole = {(row.name, row.labels): row.value for row in parse(text).rows}
    for end in range(0, len(text), 37):
        found = parse(text[:end])
        assert len(found.rows) <= len(whole)
        for row in found.rows:
            before = whole[row.name, row.labels]
            assert row.value == before or math.isnan(row.value)
        assert found.truncated == bool(text[:end].rpartition("\n")[2].strip())


def test_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parser, "MAX_LINES", 10)
    for count, kept in ((9, 9), (10, 10), (11, 10), (500, 10)):
        found = parse("a 1\n" * count)
        assert len(found.rows) == kept
        assert found.dropped.get("limit", 0) == count - kept
        assert not found.truncated
    assert parse("a 1\n" * 11 + "a").truncated
    assert parse("\n" * 1_000_000).rows == []
    long = 'a{b="' + "x" * parser.MAX_LINE_LENGTH + '"} 1\n'
    assert parse(GOOD + long).dropped == {"limit": 1}
    assert parse(f"# HELP a {'x' * parser.MAX_LINE_LENGTH}\n").helps == {}


def test_families_without_labels() -> None:
    assert [row.name for row in parse("up 1\nup{} 1\nn:a 2\n").rows] == ["up", "up", "n:a"]


def test_one_bad_line_of_the_reference_is_one_line_here() -> None:
    text = page("02")
    with pytest.raises(ValueError, match="N/A"):
        official(text, openmetrics=False)
    assert len(parse(text).rows) == 10
