"""A refusal in one line."""

from __future__ import annotations

import json

import pytest

from stepscope.cli.problem import MEDIA_TYPE, refusal

URL = "http://127.0.0.1:8000"


def said(problem: object, **typed: str) -> str:
    return str(refusal(422, MEDIA_TYPE, json.dumps(problem).encode(), url=URL, typed=typed))


def test_each_error_under_what_was_typed() -> None:
    errors = [
        {"pointer": "/duration_seconds", "detail": "is too long"},
        {"pointer": "/target/value/0", "detail": "is no rank"},
        {"pointer": "/params/slow~1down", "detail": "is odd"},
        {"pointer": "", "detail": "is bad"},
    ]
    line = said({"detail": "no", "errors": errors}, **{"/duration_seconds": "--duration", "/target": "--rank"})
    assert line == "--duration: is too long; --rank: is no rank; slow/down: is odd; is bad"


@pytest.mark.parametrize(
    ("problem", "line"),
    [
        ({"detail": "The token is wrong."}, "The token is wrong."),
        ({"title": "Unauthorized", "errors": []}, "Unauthorized"),
        ({"title": "Odd", "errors": "text"}, "Odd"),
        ({"title": "Odd", "errors": ["text"]}, "Odd"),
        ({}, "refused without a reason"),
    ],
)
def test_without_errors(problem: dict[str, object], line: str) -> None:
    assert said(problem) == line


@pytest.mark.parametrize(
    ("status", "exit_status"),
    [(400, 2), (404, 2), (409, 2), (413, 2), (422, 2), (401, 1), (421, 1), (500, 1), (503, 1)],
)
def test_exit_status(status: int, exit_status: int) -> None:
    assert refusal(status, MEDIA_TYPE, b'{"detail": "no"}', url=URL, typed={}).status == exit_status


@pytest.mark.parametrize(
    ("media_type", "body"),
    [("text/html", b"<p>no"), (MEDIA_TYPE, b"no JSON"), (MEDIA_TYPE, b"[1]"), ("application/json", b"{}")],
)
def test_a_server_that_is_no_lab(media_type: str, body: bytes) -> None:
    error = refusal(404, media_type, body, url=URL, typed={})
    assert (error.status, str(error)) == (
        1, f"{URL} answers, but not as a stepscope lab does (HTTP 404, {media_type}); is --url right?",
    )  # fmt: skip
