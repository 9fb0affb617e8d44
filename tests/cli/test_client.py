"""Addresses, and servers that are not there or are no lab."""

from __future__ import annotations

import socket
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path

import pytest

from stepscope.cli.client import Client, path_of
from stepscope.cli.errors import CliError, UsageError
from stepscope.cli.parser import server_token
from tests.cli.conftest import Answer, Command

Serving = Callable[[Answer], str]


@pytest.mark.parametrize(
    "url",
    [
        "", "127.0.0.1:8000", "ftp://host", "http://", "http://host:port", "http://host:99999", "http://host:0",
        "http://a b", "http://host/?q=1", "http://user@host", "http://[::1", "http://höst", "http://host\n",
    ],
)  # fmt: skip
def test_no_address(url: str) -> None:
    with pytest.raises(UsageError, match=r"STEPSCOPE_URL: .* is not an address such as http://127\.0\.0\.1:8000"):
        Client(url, key="STEPSCOPE_URL")


def test_wrong_address_names_where_it_came_from(stepscope: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STEPSCOPE_URL", "nowhere")
    assert stepscope("fault", "list").err.startswith("stepscope fault list: STEPSCOPE_URL: 'nowhere' is not")
    assert stepscope("fault", "list", "--url", "x").err.startswith("stepscope fault list: --url: 'x' is not")
    monkeypatch.delenv("STEPSCOPE_URL")
    monkeypatch.setenv("STEPSCOPE_PORT", "nine")
    assert stepscope("fault", "list").err.startswith("stepscope fault list: STEPSCOPE_PORT: 'http://127.0.0.1:nine' is")


def test_a_token_that_is_shared_in_a_file_goes_to_the_lab_beside_it_alone(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text("from-the-file\n")
    shared = {"STEPSCOPE_TOKEN_FILE": str(path)}
    words = Namespace(url=None, token=None)
    assert server_token(words, shared) == "from-the-file"
    assert server_token(words, shared | {"STEPSCOPE_TOKEN": "set"}) == "set"
    assert server_token(words, shared | {"STEPSCOPE_URL": "http://elsewhere"}) == ""
    assert server_token(Namespace(url="http://elsewhere", token=None), shared) == ""
    assert server_token(Namespace(url=None, token=""), shared) == ""
    assert server_token(words, {"STEPSCOPE_TOKEN_FILE": str(tmp_path / "nowhere")}) == ""
    assert server_token(words, {}) == ""


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def test_nobody_there(stepscope: Command) -> None:
    port = free_port()
    status, out, err = stepscope("fault", "list", "--url", f"http://127.0.0.1:{port}")
    assert (status, out) == (1, "")
    assert err == (
        f"stepscope fault list: no lab answers at http://127.0.0.1:{port} (connection refused); "
        f"start one: stepscope lab --port {port}\n"
    )


def test_a_host_that_does_not_exist(stepscope: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*_: object, **__: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    status, _, err = stepscope("fault", "list", "--url", "http://no-such-host.invalid:8000")
    assert status == 1
    assert err == (
        "stepscope fault list: no lab answers at http://no-such-host.invalid:8000 (name or service not known); "
        "is it running there, and is --url right?\n"
    )


def test_a_server_that_says_nothing() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        client = Client(f"http://127.0.0.1:{server.getsockname()[1]}", timeout_seconds=0.05)
        with pytest.raises(CliError, match=r"no lab answers .* \(nothing came within 0.05 s\)"):
            client.call("GET", "/readyz")


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (Answer(200, "text/html", b"<p>hello"), "answers, but not as a stepscope lab does"),
        (Answer(404, "text/html", b""), "answers, but not as a stepscope lab does (HTTP 404, text/html)"),
        (Answer(302, "text/html", b"", {"Location": "http://elsewhere.invalid/"}), "(HTTP 302, text/html)"),
        (
            Answer(401, "application/problem+json", b'{"detail": "This needs the lab\'s token."}'),
            "This needs the lab's token.",
        ),
    ],
)
def test_answers_of_other_servers(stepscope: Command, serving: Serving, answer: Answer, said: str) -> None:
    status, out, err = stepscope("fault", "list", "--url", serving(answer))
    assert (status, out) == (1, "")
    assert said in err
    assert err.count("\n") == 1


def test_a_proxy_is_not_asked_for_this_machine(lab: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{free_port()}")
    assert lab("health").status == 0


def test_an_empty_answer_is_none(serving: Serving) -> None:
    assert Client(serving(Answer(200, "application/json", b""))).call("POST", "/v1/reset") is None


def test_paths_are_escaped() -> None:
    assert path_of("faults", "a/../b?c#d é") == "/v1/faults/a%2F..%2Fb%3Fc%23d%20%C3%A9"
    assert path_of("faults", "\udcff") == "/v1/faults/%5Cudcff"
