"""Numbers and tables for people."""

from __future__ import annotations

import pytest

from stepscope.cli.output import bar, duration, quantity, share, table, words


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.0, "0"), (1e-9, "0"), (0.00025, "250 µs"), (0.22934, "229.3 ms"), (1.0, "1 s"), (12.3456, "12.35 s")],
)
def test_duration(seconds: float, text: str) -> None:
    assert duration(seconds) == text


@pytest.mark.parametrize(("value", "text"), [(None, "–"), (0.42219, "0.4222"), (53_609.2, "53,609"), (3, "3")])
def test_quantity(value: float | None, text: str) -> None:
    assert quantity(value) == text


def test_share() -> None:
    assert share(0.4219) == "42.2 %"


def test_bar_stays_within_its_width() -> None:
    assert [len(bar(value, width=10)) for value in (-1, 0, 0.5, 1, 2)] == [0, 0, 5, 10, 10]


def test_table() -> None:
    assert table(("name", "n"), [("a", "10"), ("bcdef", "2")], right=" >", indent="  ") == (
        "  name    n\n  a      10\n  bcdef   2"
    )


def test_words() -> None:
    assert words([]) == "–"
    assert words([1, 2]) == "1, 2"
    assert words(range(10), most=3) == "0, 1, 2 and 7 more"
