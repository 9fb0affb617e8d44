"""What a client survives: every way in which the other side of a real socket can misbehave.

No test measures time. That a request was cut off shows in its reason, and in the server having sent only a part.
"""

from __future__ import annotations

import gzip
import socket
import time
from collections.abc import Callable

import pytest
import requests

from exporter.source import SourceError
from exporter.sources.dcgm.client import FETCH_REASONS, MAX_BYTES, DcgmClient
from exporter.sources.dcgm.connection import Limit
from exporter.sources.dcgm.url import address
from tests.exporter.dcgm.fake_exporter import (
    PAGE,
    Answer,
    FakeExporter,
    dribble,
    flood,
    head,
    kept_open,
    page,
    raw,
    silent,
)

PATIENCE_SECONDS = 30.0
"""For requests that are not expected to be late."""
SHORT_SECONDS = 0.2
BODY = '# TYPE DCGM_FI_DEV_GPU_UTIL gauge\nDCGM_FI_DEV_GPU_UTIL{gpu="0",modelName="算力卡"} 5\n'
CHUNK = b"%x\r\n" % 65_536 + b"x" * 65_536 + b"\r\n"
CHUNKED = head(Content_Type=PAGE, Transfer_Encoding="chunked")


def fetch(fake: FakeExporter, *, seconds: float = PATIENCE_SECONDS, max_bytes: int = MAX_BYTES) -> str:
    client = DcgmClient(fake.url, max_bytes=max_bytes)
    try:
        return client.fetch(time.monotonic() + seconds)
    finally:
        client.close()


def refused(answer: Answer, *, seconds: float = PATIENCE_SECONDS, max_bytes: int = MAX_BYTES) -> tuple[str, int]:
    """Reason of the failure, and how many bytes the server got rid of."""
    with FakeExporter(answer) as fake, pytest.raises(SourceError) as caught:
        fetch(fake, seconds=seconds, max_bytes=max_bytes)
    assert caught.value.reason in FETCH_REASONS
    assert fake.url in caught.value.detail
    return caught.value.reason, fake.sent


@pytest.mark.parametrize(
    "answer",
    [
        page(BODY),
        page(BODY, Content_Type="text/plain"),
        page(BODY, Content_Type="application/openmetrics-text; version=1.0.0"),
        page(BODY, Content_Type=""),
        raw(b"HTTP/1.0 200 OK\r\n\r\n" + BODY.encode()),
        raw(CHUNKED + b"%x\r\n" % len(BODY.encode()) + BODY.encode() + b"\r\n0\r\n\r\n"),
        page("\ufeff" + BODY),
        dribble(head(Content_Type=PAGE, Content_Length=str(len(BODY.encode()))) + BODY.encode(), seconds=0.0),
    ],
    ids=["plain", "no charset", "openmetrics", "blank type", "old http", "chunked", "byte order mark", "slowly"],
)
def test_pages(answer: Answer) -> None:
    with FakeExporter(answer) as fake:
        assert fetch(fake) == BODY


def test_what_is_no_utf_8_is_replaced() -> None:
    with FakeExporter(page(b'a{b="\xff\x00"} 1\n', Content_Type="text/plain; charset=latin-1")) as fake:
        assert fetch(fake) == 'a{b="\ufffd\ufffd"} 1\n'


@pytest.mark.parametrize("answer", [page(BODY, Set_Cookie="a=b"), kept_open(BODY)])
def test_each_request_is_a_new_one_and_asks_for_text(answer: Answer) -> None:
    with FakeExporter(answer) as fake:
        client = DcgmClient(fake.url)
        for _ in range(3):
            client.fetch(time.monotonic() + PATIENCE_SECONDS)
        client.close()
        client.fetch(time.monotonic() + PATIENCE_SECONDS)
    assert len(fake.requests) == 4
    for request in fake.requests:
        assert request.startswith("GET /metrics HTTP/1.1\r\n")
        assert "\r\nAccept: text/plain;version=0.0.4" in request
        assert "\r\nAccept-Encoding: identity\r\n" in request
        assert "\r\nConnection: close\r\n" in request
        assert "cookie" not in request.lower()
        assert "authorization" not in request.lower()


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (page(BODY, status=500), "status"),
        (page(BODY, status=404), "status"),
        (page(BODY, status=204), "status"),
        (page("", status=302, Location="http://127.0.0.1:1/metrics"), "redirect"),
        (page("", status=308, Location="/elsewhere"), "redirect"),
        (page("<html></html>", Content_Type="text/html"), "content_type"),
        (page("{}", Content_Type="application/json"), "content_type"),
        (page(gzip.compress(BODY.encode()), Content_Encoding="gzip"), "content_type"),
        (page(BODY, Content_Length=str(len(BODY) + 100)), "truncated"),
        (raw(CHUNKED + CHUNK), "truncated"),
        (raw(CHUNKED + b"not a size\r\n"), "truncated"),
        (raw(b""), "protocol"),
        (raw(b"SSH-2.0-OpenSSH_9.6\r\n\r\n"), "protocol"),
        (raw(b"\x00\xff" * 4_000), "protocol"),
        (raw(b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 5_000 + b"\r\n"), "protocol"),
        (raw(b"HTTP/1.1 200 OK\r\nX: " + b"y" * 200_000 + b"\r\n\r\n"), "protocol"),
        (page(BODY, Content_Length=str(MAX_BYTES + 1)), "too_large"),
        (page(BODY, Content_Length="9" * 5_000), "too_large"),
    ],
)
def test_answers_that_are_no_page(answer: Answer, reason: str) -> None:
    assert refused(answer)[0] == reason


@pytest.mark.parametrize(
    "answer",
    [
        silent,
        dribble(b"HTTP/1.1 200 " + b"x" * 2_000),
        dribble(b"X-Header: value\r\n" * 100, first=b"HTTP/1.1 200 OK\r\n"),
        dribble(b"HTTP/1.1 100 Continue\r\n\r\n" * 100),
        dribble(b"x" * 2_000, first=head(Content_Type=PAGE, Content_Length="2000")),
        dribble(b"1\r\nx\r\n" * 1_000, first=CHUNKED),
        dribble(b"a 1\n" * 500, first=b"HTTP/1.0 200 OK\r\n\r\n"),
    ],
    ids=["silent", "status", "headers", "continue", "body", "chunks", "until closed"],
)
def test_the_deadline_is_for_the_whole_request(answer: Answer) -> None:
    reason, sent = refused(answer, seconds=SHORT_SECONDS)
    assert reason == "timeout"
    # Each byte came well within any time-out of a single operation; all of them would have taken many seconds.
    assert sent < 1_000


def test_no_time_at_all() -> None:
    with FakeExporter(page(BODY)) as fake, pytest.raises(SourceError, match="no time was left") as caught:
        fetch(fake, seconds=-1.0)
    assert caught.value.reason == "timeout"
    assert fake.requests == []


def test_a_connection_made_too_late_is_none() -> None:
    with FakeExporter(silent) as fake, Limit(time.monotonic() + PATIENCE_SECONDS, clock=time.monotonic) as limit:
        limit._end()
        with pytest.raises(TimeoutError):
            limit.connect("127.0.0.1", fake.port)


def test_a_body_of_300_mib_is_cut_at_the_limit() -> None:
    reason, sent = refused(flood(300 * 16, first=CHUNKED, block=CHUNK))
    assert reason == "too_large"
    assert MAX_BYTES < sent < 2 * MAX_BYTES


@pytest.mark.parametrize(
    "first",
    [b"HTTP/1.0 200 OK\r\n\r\n", head(302, Location="/elsewhere"), head(500), head(Content_Type="text/html")],
    ids=["page", "redirect", "error", "html"],
)
def test_no_answer_whatsoever_is_read_without_end(first: bytes) -> None:
    reason, sent = refused(flood(4_000, first=first, block=b"x" * 65_536), max_bytes=100_000)
    assert reason in ("too_large", "redirect", "status", "content_type")
    assert sent < 100 * 65_536


def test_exactly_the_limit_is_allowed() -> None:
    size = len(BODY.encode())
    with FakeExporter(page(BODY)) as fake:
        assert fetch(fake, max_bytes=size) == BODY
    assert refused(page(BODY), max_bytes=size - 1)[0] == "too_large"
    assert refused(raw(b"HTTP/1.0 200 OK\r\n\r\n" + BODY.encode()), max_bytes=size - 1)[0] == "too_large"


def test_nobody_there() -> None:
    with FakeExporter(page(BODY)) as fake:
        pass
    with pytest.raises(SourceError, match=r"cannot be reached: Connection refused") as caught:
        fetch(fake)
    assert caught.value.reason == "connect"


def test_a_name_that_means_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*_: object, **__: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    with pytest.raises(SourceError, match="cannot be reached: Name or service not known") as caught:
        DcgmClient("http://nobody.invalid:9400").fetch(time.monotonic() + PATIENCE_SECONDS)
    assert caught.value.reason == "connect"


def test_the_next_address_of_a_name_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    with FakeExporter(page(BODY)) as gone:
        pass
    with FakeExporter(page(BODY)) as fake:
        addresses = [
            (socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", ("127.0.0.1", port))
            for port in (gone.port, fake.port)
        ]
        monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: addresses)
        assert DcgmClient("http://gpu-host").fetch(time.monotonic() + PATIENCE_SECONDS) == BODY


def test_many_addresses_have_one_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    class Silent(socket.socket):
        def connect(self, address: object) -> None:
            tried.append(address)
            now[0] += self.gettimeout() or 0.0
            raise TimeoutError("timed out")

    now, tried = [0.0], list[object]()
    places = [(socket.AF_INET, socket.SOCK_STREAM, 0, "", ("192.0.2.1", 80))] * 8
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: places)
    monkeypatch.setattr(socket, "socket", Silent)
    with pytest.raises(SourceError, match="could not be reached in time") as caught:
        DcgmClient("http://gpu-host", clock=lambda: now[0]).fetch(PATIENCE_SECONDS)
    assert caught.value.reason == "timeout"
    assert (len(tried), now) == (1, [PATIENCE_SECONDS])


def test_tls_that_is_none() -> None:
    with FakeExporter(silent) as fake:
        client = DcgmClient(fake.url.replace("http:", "https:"))
        with pytest.raises(SourceError) as caught:
            client.fetch(time.monotonic() + SHORT_SECONDS)
    assert caught.value.reason == "timeout"


def test_it_recovers_by_itself() -> None:
    with FakeExporter(page(BODY, status=503)) as fake:
        client = DcgmClient(fake.url)
        answers: list[tuple[Answer, float]] = [
            (raw(b""), PATIENCE_SECONDS),
            (silent, SHORT_SECONDS),
            (page(BODY, Content_Length="500"), PATIENCE_SECONDS),
        ]
        for answer, seconds in answers:
            fake.answer = answer
            with pytest.raises(SourceError):
                client.fetch(time.monotonic() + seconds)
            fake.answer = page(BODY)
            assert client.fetch(time.monotonic() + PATIENCE_SECONDS) == BODY


def test_the_environment_has_no_say(monkeypatch: pytest.MonkeyPatch) -> None:
    with FakeExporter(page(BODY)) as fake, FakeExporter(page("proxy\n")) as proxy:
        for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
        monkeypatch.delenv("no_proxy", raising=False)
        monkeypatch.delenv("NO_PROXY", raising=False)
        assert fetch(fake) == BODY
        assert proxy.requests == []


def test_netrc_is_not_read(monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> None:
    netrc = f"{tmp_path}/netrc"
    with open(netrc, "w", encoding="ascii") as file:
        file.write("machine 127.0.0.1 login someone password secret\n")
    monkeypatch.setenv("NETRC", netrc)
    with FakeExporter(page(BODY)) as fake:
        fetch(fake)
    assert "authorization" not in fake.requests[0].lower()


@pytest.mark.parametrize(
    "answer",
    [
        page(BODY, status=401),
        page("", status=302, Location="http://localhost:1"),
        raw(b""),
        page("", Content_Type="x/y"),
    ],
)
def test_no_message_holds_what_is_secret(answer: Answer) -> None:
    with FakeExporter(answer) as fake:
        client = DcgmClient(f"http://user:s3cret@127.0.0.1:{fake.port}/metrics?token=t0ken")
        with pytest.raises(SourceError) as caught:
            client.fetch(time.monotonic() + PATIENCE_SECONDS)
    assert "Authorization: Basic" in fake.requests[0]
    assert fake.requests[0].startswith("GET /metrics?token=t0ken ")
    said = f"{caught.value!r} {caught.value.detail} {caught.value.__cause__}"
    assert fake.url in said
    assert not any(secret in said for secret in ("user", "s3cret", "t0ken"))


def test_a_session_of_the_caller_keeps_its_headers() -> None:
    session = requests.Session()
    session.headers["X-Scope"] = "lab"
    with FakeExporter(page(BODY)) as fake:
        assert DcgmClient(fake.url, session=session).fetch(time.monotonic() + PATIENCE_SECONDS) == BODY
    assert "\r\nX-Scope: lab\r\n" in fake.requests[0]


@pytest.mark.parametrize(
    ("given", "asked"),
    [
        ("http://gpu-host:9400", "http://gpu-host:9400/metrics"),
        ("http://gpu-host:9400/", "http://gpu-host:9400/metrics"),
        ("https://gpu-host/dcgm/metrics", "https://gpu-host/dcgm/metrics"),
        ("http://[::1]:9400", "http://[::1]:9400/metrics"),
        ("http://gpu-host:9400/metrics#part", "http://gpu-host:9400/metrics"),
    ],
)
def test_addresses(given: str, asked: str) -> None:
    assert address(given).url == address(given).shown == asked


@pytest.mark.parametrize(
    ("given", "loopback"),
    [
        ("http://127.0.0.1:9400", True),
        ("http://127.8.8.8", True),
        ("http://[::1]:9400", True),
        ("http://localhost", True),
        ("http://10.0.0.1", False),
        ("http://gpu-host", False),
    ],
)
def test_loopback(given: str, *, loopback: bool) -> None:
    assert address(given).loopback is loopback


@pytest.mark.parametrize(
    "given",
    [
        "", "gpu-host:9400", "127.0.0.1:9400/metrics", "file:///etc/passwd", "ftp://gpu-host/", "http://", "http://:9400",
        "http://gpu-host:port", "http://gpu-host:99999", "http://gpu host/", "http://gpu-host/a b", "http://[::1/",
        "http://gpu-host/\n", "unix:///run/dcgm.sock", "http://user:s3cret@", "http://user:s3cret@host:port/", "http://*/",
        "http://grün/", "javascript:alert(1)",
    ],
)  # fmt: skip
def test_what_is_no_address_names_the_flag(given: str) -> None:
    with pytest.raises(ValueError, match=r"^--dcgm-url: ") as caught:
        DcgmClient(given)
    assert "s3cret" not in str(caught.value)


def test_each_reason_has_been_seen() -> None:
    makers: dict[str, Callable[[], str]] = {
        "timeout": lambda: refused(silent, seconds=SHORT_SECONDS)[0],
        "protocol": lambda: refused(raw(b""))[0],
        "status": lambda: refused(page(BODY, status=500))[0],
        "redirect": lambda: refused(page("", status=301))[0],
        "content_type": lambda: refused(page("", Content_Type="text/html"))[0],
        "too_large": lambda: refused(page(BODY), max_bytes=1)[0],
        "truncated": lambda: refused(page(BODY, Content_Length="999"))[0],
    }
    assert {name: make() for name, make in makers.items()} == {
        name: name for name in FETCH_REASONS if name != "connect"
    }
