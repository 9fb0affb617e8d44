"""Whatever arrives: no crash, no growth, and a page that can be read."""

from __future__ import annotations

import json
import random
import shutil
import socket
import subprocess
import tracemalloc
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from exporter.render import Format
from exporter.sources.job.book import MAX_RANKS, MAX_RUNS
from exporter.sources.job.check import CHECK_REASONS, check
from exporter.sources.job.fields import Refused
from exporter.sources.job.report import JOB_PHASES
from exporter.sources.job.source import JobSource
from exporter.sources.job.wire import MAX_BYTES
from tests.exporter.exposition import official, read
from tests.exporter.job.reports import NOW, Clock, datagram, fields, no_peak, until

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=8), inner, max_size=5),
    max_leaves=12,
)
VALUES = JSON | st.dictionaries(st.sampled_from([*JOB_PHASES, "sum", "counts", "uuid", "visible_devices"]), JSON)


def job(clock: Clock) -> JobSource:
    """One that nobody sends to; datagrams are put into its hands."""
    return JobSource(socket_path="/unused", hostname="n", gpus=list, peak=no_peak, clock=clock)


def believed(body: bytes) -> bool:
    """Whether it is; it may be refused, for a reason that has a name, and nothing else may happen."""
    try:
        check(body, now=NOW)
    except Refused as refused:
        return not CHECK_REASONS[CHECK_REASONS.index(refused.reason)]
    return True


@given(body=st.binary(max_size=400))
@settings(max_examples=300, deadline=None, derandomize=True)
def test_bytes_are_no_report(body: bytes) -> None:
    assert not believed(body)


@given(changes=st.dictionaries(st.sampled_from(sorted(fields())), VALUES, min_size=1, max_size=4))
@settings(max_examples=120, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
def test_any_json_in_any_place_is_believed_or_refused_and_the_page_can_be_read(changes: dict[str, object]) -> None:
    source = job(Clock())
    source.take(json.dumps(fields(rank=0) | changes).encode(), 1000)
    source.take(datagram(run="steady", rank=0), 1000)
    for format_ in Format:
        text = "".join(source.families(format_)) + format_.ending
        read(text.encode())
        official(text, openmetrics=format_ is Format.OPENMETRICS)


def test_damaged_reports_never_crash() -> None:
    rng = random.Random(20_260_701)
    whole = datagram()
    found = 0
    for _ in range(20_000):
        body = bytearray(whole)
        for _ in range(rng.choice((1, 1, 2, 8))):
            place = rng.randrange(len(body))
            match rng.randrange(4):
                case 0:
                    body[place] = rng.randrange(256)
                case 1:
                    del body[place : place + rng.randrange(1, 40)]
                case 2:
                    body[place:place] = body[rng.randrange(len(body)) :][: rng.randrange(1, 40)]
                case _:
                    body[place:place] = rng.choice((b"1e999", b"-", b"[[[[", b'"\\ud800"', b"NaN", b"\x00", b'"v":1,'))
            body = body or bytearray(b"x")
        found += believed(bytes(body[:MAX_BYTES]))
    assert 0 < found < 10_000, "some damage is harmless, and most is not"


def test_thousands_of_lies_do_not_fill_the_memory() -> None:
    """Each from another run, rank, session or user, which is what could be remembered."""
    clock = Clock()
    source = job(clock)
    rng = random.Random(7)
    sizes = []
    tracemalloc.start()
    try:
        for _ in range(4):
            for _ in range(600):
                clock.now += 0.001
                name = f"{rng.getrandbits(128):x}"
                body = datagram(
                    run=name * 4, session=name, rank=rng.randrange(1 << 20), world_size=1 << 20, time=clock.now
                )
                source.take(body, rng.randrange(1 << 30))
            sizes.append(tracemalloc.get_traced_memory()[0])
            status = source.status()
            assert status.runs <= MAX_RUNS
            assert status.ranks <= MAX_RANKS
    finally:
        tracemalloc.stop()
    assert sizes[-1] - sizes[0] < 100_000


def test_promtool_reads_what_an_attacker_has_written() -> None:
    tool = shutil.which("promtool")
    if tool is None:
        pytest.skip("promtool is not on the PATH")
    source = job(Clock())
    for user, name in enumerate(('a"} 1\nfake{x="', "\\", "\\n", '"', "x\n# EOF\n", "\u2028é", "é" * 128, "{}")):
        body = datagram(run=name, model=name, session=name, rank=0, gpu={"name": name, "uuid": name})
        source.take(body, user)
    assert source.status().runs == 8
    body = "".join(source.families(Format.TEXT)).encode()
    done = subprocess.run([tool, "check", "metrics"], input=body, capture_output=True, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (0, b"")
    assert len(read(body).of("training_run_info")) == 8


def test_after_rubbish_through_the_port_the_next_report_is_heard() -> None:
    rng = random.Random(11)
    with TemporaryDirectory(prefix="job-") as folder, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as out:
        path = f"{folder}/a.sock"
        source = JobSource(socket_path=path, hostname="n", gpus=list, peak=no_peak, clock=Clock())
        source.start()
        out.connect(path)
        whole = datagram()
        for _ in range(3_000):
            body = bytearray(whole if rng.random() < 0.5 else rng.randbytes(1 + rng.randrange(2 * MAX_BYTES)))
            body[rng.randrange(len(body))] = 0
            out.send(bytes(body[: rng.randrange(len(body) + 1)]))

        def heard() -> bool:
            out.send(datagram(run="after"))
            return 'run="after"' in "".join(source.families(Format.TEXT))

        until(heard)
        status = source.status()
        assert status.up
        assert sum(status.dropped.values()) >= 3_000
        assert status.dropped["unexpected"] == 0
        source.close()
