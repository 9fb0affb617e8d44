"""Formats and encodings that clients ask for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exporter.negotiation import choose_format, wants_gzip
from exporter.render import Format

PROMETHEUS_3 = (
    "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,"
    "application/openmetrics-text;version=0.0.1;q=0.5,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,"
    "text/plain;version=0.0.4;q=0.3,*/*;q=0.2"
)
PROMETHEUS_3_PROTOBUF = (
    "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited;q=0.7," + PROMETHEUS_3
)


@pytest.mark.parametrize(
    "accept",
    [
        PROMETHEUS_3,
        PROMETHEUS_3_PROTOBUF,
        "application/openmetrics-text",
        "application/openmetrics-text;version=1.0.0",
        'Application/OpenMetrics-Text; version="1.0.0"; charset=utf-8',
        "application/openmetrics-text;q=0.5,text/plain;q=0.4",
        "application/openmetrics-text,*/*",
        "text/plain;q=0,application/openmetrics-text;q=0.1",
        "application/*",
    ],
)
def test_openmetrics_when_preferred(accept: str) -> None:
    assert choose_format(accept) is Format.OPENMETRICS


@pytest.mark.parametrize(
    "accept",
    [
        None,
        "",
        "*/*",
        "text/plain",
        "text/plain;version=0.0.4;charset=utf-8",
        "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
        "application/openmetrics-text;q=0,*/*",
        "application/openmetrics-text;version=0.0.1",
        "application/openmetrics-text;q=0.3,text/plain;q=0.5",
        "application/json",
        "application/openmetrics-text;q=nan",
        "application/openmetrics-text;q=7",
        ";;;,=,q",
    ],
)
def test_text_otherwise(accept: str | None) -> None:
    assert choose_format(accept) is Format.TEXT


def test_content_types_are_exact() -> None:
    assert Format.TEXT.value == "text/plain; version=0.0.4; charset=utf-8"
    assert Format.OPENMETRICS.value == "application/openmetrics-text; version=1.0.0; charset=utf-8"


@pytest.mark.parametrize(
    ("accept_encoding", "packed"),
    [
        ("gzip", True),
        ("gzip, deflate, br, zstd", True),
        ("GZIP;q=0.5", True),
        ("x-gzip", True),
        ("*", True),
        (None, False),
        ("", False),
        ("identity", False),
        ("gzip;q=0", False),
        ("gzip;q=0, *", False),
        ("br;q=1.0", False),
        ("*;q=0", False),
    ],
)
def test_gzip_only_when_asked(accept_encoding: str | None, packed: bool) -> None:
    assert wants_gzip(accept_encoding) is packed


@given(st.text(max_size=200))
def test_no_header_breaks_it(text: str) -> None:
    assert choose_format(text) in Format
    assert wants_gzip(text) in (True, False)
