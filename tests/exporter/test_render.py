"""The renderer: spelling of numbers, escapes, headers."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exporter.catalogue import BY_NAME, Family
from exporter.render import Format, escape_label, head, header, lines, number, numbers, samples
from tests.exporter.exposition import official, read

SOME = Family(name="some_value", type="gauge", unit="", help="Some value.", scope="self", page="run", labels=("a", "b"))

# prometheus_client takes a carriage return for the end of a line; Prometheus does not.
ANY_TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\r"), max_size=40)


@given(ANY_TEXT, ANY_TEXT, st.floats(allow_nan=False))
def test_any_label_text_survives_both_formats(first: str, second: str, value: float) -> None:
    rows = [({"a": first, "b": second}, value)]
    text = samples(SOME, rows, Format.TEXT)
    assert [(s.labels, s.value) for f in official(text, openmetrics=False) for s in f.samples] == [
        ({"a": first, "b": second}, value)
    ]
    assert read(text.encode()).samples[0].labels == (("a", first), ("b", second))
    open_ = samples(SOME, rows, Format.OPENMETRICS) + Format.OPENMETRICS.ending
    assert [(s.labels, s.value) for f in official(open_, openmetrics=True) for s in f.samples] == [
        ({"a": first, "b": second}, value)
    ]


def test_escapes_are_the_three_of_the_format() -> None:
    assert escape_label('C:\\gpu "1"\nnext') == 'C:\\\\gpu \\"1\\"\\nnext'
    assert escape_label("Grüße {a,b} =") == "Grüße {a,b} ="


@given(ANY_TEXT.map(str.strip))
def test_any_help_text_survives(text: str) -> None:
    family = replace(SOME, help=text)
    assert header(family, Format.TEXT).count("\n") == 2
    (read_back,) = official(header(family, Format.OPENMETRICS) + Format.OPENMETRICS.ending, openmetrics=True)
    assert read_back.documentation == text


@given(st.floats())
def test_numbers_are_exact(value: float) -> None:
    text = number(value)
    assert float(text) == value or (math.isnan(value) and text == "NaN")
    if math.isinf(value):
        assert text in ("+Inf", "-Inf")


def test_dcgm_spelling() -> None:
    power, clock = BY_NAME["DCGM_FI_DEV_POWER_USAGE"], BY_NAME["DCGM_FI_DEV_SM_CLOCK"]
    assert numbers(power, [0.0, 71.25, 1 / 3]) == ["0.000000", "71.250000", "0.333333"]
    assert numbers(clock, [0, 1980, 129_931_554_972]) == ["0", "1980", "129931554972"]
    assert numbers(power, []) == []


def test_lines_join_names_heads_and_values() -> None:
    assert lines("up", ['{a="1"} ', '{a="2"} '], ["1", "0"]) == 'up{a="1"} 1\nup{a="2"} 0\n'
    assert lines("up", [], []) == ""
    with pytest.raises(ValueError, match="sequence"):
        lines("up", [" "], ["1", "2"])


def test_a_head_without_labels_is_a_blank() -> None:
    assert head(()) == " "
    assert samples(replace(SOME, labels=()), [({}, 1.5)], Format.TEXT).endswith("\nsome_value 1.5\n")


def test_counters_lose_their_total_in_openmetrics_headers_only() -> None:
    steps = BY_NAME["training_steps_total"]
    assert "# TYPE training_steps_total counter\n" in header(steps, Format.TEXT)
    assert "# TYPE training_steps counter\n" in header(steps, Format.OPENMETRICS)
    energy = BY_NAME["DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION"]
    assert "# TYPE DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION counter\n" in header(energy, Format.TEXT)
    assert "# TYPE DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION unknown\n" in header(energy, Format.OPENMETRICS)
