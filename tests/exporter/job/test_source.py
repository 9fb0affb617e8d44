"""The job source as the exporter uses it: a socket in, training families and a status out."""

from __future__ import annotations

import logging
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from exporter.reading import Gpu
from exporter.render import Format
from exporter.sources.job.book import MAX_AGE_SECONDS, MAX_RUNS
from exporter.sources.job.source import JobSource
from exporter.sources.job.wire import SOCKET_VARIABLE
from tests.exporter.exposition import Exposition, read
from tests.exporter.job.reports import NOW, Clock, datagram, gpu_uuid, no_peak, until

ME = 1000


@pytest.fixture
def folder() -> Iterator[Path]:
    """Short enough for sockets."""
    with TemporaryDirectory(prefix="job-") as name:
        yield Path(name)


def source(path: Path | None, clock: Clock, gpus: list[Gpu] | None = None) -> JobSource:
    """One that has not been started."""
    boards = gpus if gpus is not None else []
    return JobSource(
        socket_path=None if path is None else str(path), hostname="n", gpus=lambda: boards, peak=no_peak, clock=clock
    )


def page(job: JobSource) -> Exposition:
    """Its text, read by a strict reader."""
    text = "".join(job.families(Format.TEXT))
    return read(text.encode()) if text else Exposition()


def test_from_a_datagram_to_a_page_and_to_silence(folder: Path) -> None:
    clock = Clock()
    job = source(folder / "a.sock", clock)
    assert not job.status().up
    job.start()
    status = job.status()
    assert (status.up, status.detail, status.runs, status.ranks) == (True, str(folder / "a.sock"), 0, 0)
    assert status.last_success == 0.0
    assert page(job).samples == []
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as out:
        for rank in (0, 1):
            out.sendto(datagram(rank=rank), str(folder / "a.sock"))
        until(lambda: job.status().ranks == 2)
    assert (job.status().runs, job.status().last_success) == (1, NOW)
    assert page(job).value("training_steps_total", run="night") == 20
    clock.now += MAX_AGE_SECONDS + 1
    assert page(job).samples == []
    assert (job.status().runs, job.status().ranks, job.status().up) == (0, 0, True)
    job.close()
    assert not job.status().up
    assert list(folder.iterdir()) == []


def test_every_reason_is_counted_from_the_start_and_logged_once(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    job = source(folder / "a.sock", Clock())
    assert set(job.status().dropped) == set(job.drop_reasons)
    assert set(job.status().errors) == set(job.error_reasons)
    assert len(job.drop_reasons) == len(set(job.drop_reasons))
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            job.take(b"{", ME)
            job.take(datagram(steps=-1), ME)
        job.take(datagram(), ME)
        job.take(datagram(), ME)
    dropped = {reason: count for reason, count in job.status().dropped.items() if count}
    assert dropped == {"json": 3, "range": 3, "old": 1}
    assert [record.args[0] for record in caplog.records if isinstance(record.args, tuple)] == ["json", "range", "old"]
    job.close()


def test_a_path_that_cannot_be_had_is_a_reason_and_no_crash(folder: Path) -> None:
    path = folder / "a.sock"
    path.write_text("in the way")
    job = source(path, Clock())
    job.start()
    status = job.status()
    assert not status.up
    assert status.errors["path"] == 1
    assert str(path) in status.detail
    job.close()
    assert path.read_text() == "in the way"


def test_the_place_is_the_recorders_when_none_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SOCKET_VARIABLE, str(folder / "named.sock"))
    job = source(None, Clock())
    job.start()
    assert job.status().detail == str(folder / "named.sock")
    job.close()


def test_boards_are_asked_for_anew_with_every_page(folder: Path) -> None:
    boards = [Gpu(uuid=gpu_uuid(2), index="2")]
    job = source(folder / "a.sock", Clock(), boards)
    job.take(datagram(), ME)
    assert dict(page(job).of("training_rank_info")[0].labels)["gpu"] == "2"
    boards[:] = [Gpu(uuid=gpu_uuid(2), index="1")]
    assert dict(page(job).of("training_rank_info")[0].labels)["gpu"] == "1"
    job.close()


def test_killed_and_started_anew_in_any_order_no_rank_is_there_twice_and_nothing_falls_to_nothing(folder: Path) -> None:
    clock = Clock()
    path = folder / "a.sock"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as out:
        for life in range(3):
            job = source(path, clock)
            job.start()
            assert page(job).samples == [], "an exporter that has just started knows nothing, which is not 0"
            for session in ("first", "second"):
                made = datagram(rank=0, session=session, started=NOW + len(session), seq=life)
                out.sendto(made, str(path))
                until(lambda job=job, life=life: job.status().ranks == 1)  # type: ignore[misc]
            until(lambda job=job: _session_is_newest(job))  # type: ignore[misc]
            job.close()
            with pytest.raises(FileNotFoundError):
                out.sendto(b"", str(path))


def _session_is_newest(job: JobSource) -> bool:
    return len(page(job).of("training_steps_total")) == 1 and job.status().last_success == NOW


def test_a_page_is_read_while_reports_come() -> None:
    clock = Clock()
    job = source(Path("/unused"), clock)
    for seq in range(50):
        for rank in range(4):
            job.take(datagram(rank=rank, seq=seq), ME)
        assert len(page(job).of("training_rank_info")) == 4


def test_it_needs_no_numpy() -> None:
    code = "import sys, exporter.sources.job.source; sys.exit('numpy' in sys.modules or 'requests' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"precision": ...}, "no peak is known of NVIDIA H100 80GB HBM3 without a precision"),
        ({"precision": "int4"}, "no peak is known of NVIDIA H100 80GB HBM3 at precision 'int4'"),
        ({"precision": ..., "gpu": {}}, "no peak is known of its device without a precision"),
    ],
)
def test_a_run_that_will_have_no_mfu_is_named_once(
    changes: dict[str, object], said: str, caplog: pytest.LogCaptureFixture
) -> None:
    job = source(None, Clock())
    with caplog.at_level(logging.WARNING):
        for seq in (1, 2):
            job.take(datagram(rank=0, seq=seq, peak_flops_per_second=..., **changes), ME)
            page(job)
    advice = "give its StepRecorder precision=… or peak_flops_per_second=…"
    assert [record.message for record in caplog.records] == [
        f"job source: run 'night' will have no MFU: {said}; {advice}"
    ]


def test_nothing_is_said_of_a_peak_that_is_known_or_not_yet_or_on_another_node(
    caplog: pytest.LogCaptureFixture,
) -> None:
    job = source(None, Clock())
    with caplog.at_level(logging.WARNING):
        job.take(datagram(run="given", rank=0), ME)
        job.take(datagram(run="starting", rank=0, peak_flops_per_second=..., steps=1), ME)
        job.take(datagram(run="elsewhere", rank=1, peak_flops_per_second=...), ME)
        assert page(job).value("training_peak_flops_per_second", run="given") == 8 * 989.4e12
    assert caplog.records == []


def test_made_up_runs_do_not_fill_the_log(caplog: pytest.LogCaptureFixture) -> None:
    clock = Clock()
    job = source(None, clock)
    with caplog.at_level(logging.WARNING):
        for number in range(3 * MAX_RUNS):
            now = {"time": clock.now, "last_step_time": clock.now}
            job.take(datagram(run=f"r{number}", rank=0, peak_flops_per_second=..., precision=..., **now), ME)
            assert page(job).value("training_steps_total", run=f"r{number}") == 20
            clock.now += MAX_AGE_SECONDS + 1
    assert len([record for record in caplog.records if "no MFU" in record.message]) == MAX_RUNS


@pytest.mark.parametrize(
    ("second", "user", "said"),
    [
        ({"session": "other", "started": 1.0}, ME, "a later recorder reports for rank 2 of 'night'"),
        ({"session": "other"}, ME + 1, "'night' is a run of user 1000, the report is of user 1001"),
    ],
)
def test_two_jobs_under_one_name_are_named(
    second: dict[str, object], user: int, said: str, caplog: pytest.LogCaptureFixture
) -> None:
    job = source(None, Clock())
    with caplog.at_level(logging.WARNING):
        job.take(datagram(), ME)
        job.take(datagram(**second), user)
    assert said in caplog.text
