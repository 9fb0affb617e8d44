"""Reports on their way: cumulative, at most once a second, through a socket that never blocks."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from exporter.sources.job.wire import socket_paths
from stepscope.recorder import StepRecorder
from stepscope.recorder.core import Ways
from tests.recorder.parts import STARTED_UNIX, Bench, Listener, recording

ROOT = Path(__file__).parents[2]


def test_a_lost_report_loses_nothing(bench: Bench) -> None:
    first = bench.report()
    with bench.rec.step(), bench.rec.phase("forward"):
        bench.clock.turn(1.0)
    bench.rec._core.beat()
    bench.listener.reports()  # lost
    with bench.rec.step(), bench.rec.phase("forward"):
        bench.clock.turn(1.0)
    last = bench.report()
    assert last["phases"]["forward"] == pytest.approx(2.0)
    assert last["steps"] == 2
    assert (first["seq"], last["seq"]) == (0, 2)
    assert first["session"] == last["session"]
    assert first["started"] == last["started"] == STARTED_UNIX


def test_nothing_is_made_or_sent_without_a_listener(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with recording(tmp_path) as bench:
        bench.listener.close()
        os.unlink(bench.listener.path)
        for _ in range(3):
            bench.rec._core.beat()
        back = Listener(tmp_path / "recorder.sock")
        bench.rec._core.beat()
        (report,) = back.reports()
        back.close()
    assert report["seq"] == 0, "reports that nobody would get are not made"
    assert not caplog.records, "that nobody listens for a moment is no trouble"


@pytest.mark.parametrize(("local_rank", "lines"), [(0, 1), (1, 0)])
def test_that_nobody_listens_for_long_is_said_once_on_a_node(
    local_rank: int, lines: int, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with recording(tmp_path, rank=local_rank, world_size=2, local_rank=local_rank) as bench:
        bench.listener.close()
        os.unlink(bench.listener.path)
        for _ in range(50):
            bench.rec._core.beat()
    said = f"nobody listens at {bench.listener.path}: nothing is reported until `stepscope export` runs on this node"
    assert [record.message for record in caplog.records] == [said] * lines


def test_an_exporter_that_starts_anew_now_and_then_is_not_reported(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with recording(tmp_path) as bench:
        listener = bench.listener
        for _ in range(5):
            listener.close()
            os.unlink(listener.path)
            for _ in range(5):
                bench.rec._core.beat()
            listener = Listener(tmp_path / "recorder.sock")
            bench.rec._core.beat()
            assert listener.reports()
        listener.close()
    assert not caplog.records


@pytest.mark.parametrize("leaves_its_socket", [True, False])
def test_an_exporter_that_is_started_anew_is_found_again(bench: Bench, leaves_its_socket: bool) -> None:
    bench.report()
    bench.listener.close()
    if not leaves_its_socket:
        os.unlink(bench.listener.path)
    bench.rec._core.beat()
    back = Listener(Path(bench.listener.path))
    bench.rec._core.beat()
    (report,) = back.reports()
    back.close()
    assert report["seq"] >= 1


def test_a_full_socket_drops_reports_and_blocks_nobody(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    for _ in range(2000):
        bench.rec._core.beat()
    kept = [report["seq"] for report in bench.listener.reports()]
    assert 0 < len(kept) < 2000
    assert bench.report()["seq"] == 2000
    assert not caplog.records


def test_the_first_socket_with_a_listener_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    listener = Listener(tmp_path / "second.sock")
    paths = (str(tmp_path / "first.sock"), listener.path)
    monkeypatch.setattr("stepscope.recorder.recorder.socket_paths", lambda: paths)
    with StepRecorder(run="test", tokens_per_step=1, params=1.0, ways=Ways(interval=1e6)):
        pass
    (report,) = listener.reports()
    listener.close()
    assert report["final"] is True
    assert socket_paths({"STEPSCOPE_SOCKET": "/named"}) == ("/named",)


def test_an_impossible_path_is_said_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with StepRecorder(run="t", tokens_per_step=1, params=1.0, socket="/" + "x" * 200, ways=Ways(interval=1e6)) as rec:
        rec._core.beat()
        rec._core.beat()
    (record,) = caplog.records
    assert "AF_UNIX path too long" in record.getMessage()


def test_the_thread_reports_by_itself_and_the_last_report_is_final(tmp_path: Path) -> None:
    listener = Listener(tmp_path / "own.sock")
    with StepRecorder(run="t", tokens_per_step=1, params=1.0, socket=listener.path, ways=Ways(interval=0.01)) as rec:
        (first, *_) = listener.reports(within=30)
        with rec.step():
            pass
    last = listener.reports()[-1]
    listener.close()
    assert (first["final"], last["final"]) == (False, True)
    assert last["steps"] == 1
    assert "stepscope-recorder" not in [thread.name for thread in threading.enumerate()]


def test_a_calendar_set_back_hides_the_last_step_once_and_breaks_nothing(bench: Bench) -> None:
    with bench.rec.step():
        pass
    bench.clock.turn(1.0)
    before = bench.report()
    unix = bench.clock.unix
    object.__setattr__(bench.rec._core._ways, "unix", lambda: unix() - 3600)
    assert "last_step_time" not in bench.report()
    after = bench.report()
    assert after["last_step_time"] == pytest.approx(before["last_step_time"] - 3600)
    assert after["last_step_time"] <= after["time"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")  # that it is dangerous is the point
def test_a_forked_child_neither_reports_nor_hangs(bench: Bench) -> None:
    """As a worker of a DataLoader does: the lock is held by a thread that the child does not have."""
    with bench.rec.step():
        with bench.rec._core.books.lock, bench.rec._core.busy.lock:
            child = os.fork()
            if child == 0:
                with bench.rec.step(), bench.rec.phase("forward"):
                    bench.rec.log(loss=1.0)
                    bench.rec._core.busy.moves(1.0)
                bench.rec.close()
                os._exit(0)
        _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    assert bench.listener.reports() == []
    assert bench.report()["steps"] == 1, "the parent goes on"


def test_a_script_that_just_ends_sends_its_last_report(tmp_path: Path) -> None:
    listener = Listener(tmp_path / "end.sock")
    code = (
        "from stepscope import StepRecorder\n"
        f"rec = StepRecorder(run='ends', tokens_per_step=1, params=1.0, socket={listener.path!r})\n"
        "with rec.step(): pass\n"
        "raise SystemExit(3)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    (report,) = listener.reports()
    listener.close()
    assert (done.returncode, done.stderr) == (3, "")
    assert (report["final"], report["steps"]) == (True, 1)


def test_many_threads_log_while_one_trains(bench: Bench) -> None:
    stop = threading.Event()
    postman = threading.Lock()  # there is but one thread that reports

    def logs() -> None:
        while not stop.is_set():
            bench.rec.log(loss=1.0, grad_norm=1.0)
            with postman:
                bench.rec._core.beat()

    threads = [threading.Thread(target=logs) for _ in range(4)]
    for thread in threads:
        thread.start()
    for _ in range(300):
        with bench.rec.step(), bench.rec.phase("forward"):
            bench.clock.turn(0.01)
            time.sleep(0)
    stop.set()
    for thread in threads:
        thread.join()
    report = bench.report()
    assert report["steps"] == 300
    assert report["phases"]["forward"] == pytest.approx(3.0)


def test_only_the_standard_library_is_imported() -> None:
    code = (
        "import sys\n"
        "from stepscope import StepRecorder\n"
        "StepRecorder(run='light', tokens_per_step=1, params=1.0, socket='/nowhere/s').close()\n"
        "ours = {'stepscope', 'exporter', 'simulator'}\n"
        "print(sorted({name.partition('.')[0] for name in sys.modules} - set(sys.stdlib_module_names) - ours))\n"
        "print(sorted(name for name in sys.modules if name.partition('.')[0] in ours))\n"
    )
    done = subprocess.run([sys.executable, "-S", "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    foreign, own = done.stdout.splitlines()
    assert foreign == "['__main__']", "a training image has nothing else"
    assert "stepscope.cli" not in own
