"""The exporter as a process: how it starts, what it loads, and that no driver keeps it from leaving."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from stepscope.__main__ import main
from tests.export.live import PATIENCE, ROOT, LiveExporter, environment, running
from tests.exporter.exposition import Exposition, read
from tests.exporter.nvml.fake import healthy
from tests.stack.real import eventually

TWO = {"devices": [healthy(0), healthy(1)]}
HANG = """
import sys, threading
from exporter.choice import Chooser
from exporter.collector import Collector
from exporter.node import Node
from stepscope.export.serve import run
from stepscope.export.settings import ExportSettings

class Stuck:
    name, error_reasons, drop_reasons = "nvml", (), ()
    def collect(self, deadline):
        open(sys.argv[1], "w").close()  # it is in the driver
        threading.Event().wait()
    def close(self):
        raise AssertionError("nobody may close it meanwhile")

sys.exit(run(ExportSettings(hostname="a", port=0), Node([Collector(Stuck())], Chooser(["nvml"], auto=False))))
"""


def test_it_starts_shows_gpus_and_leaves_when_it_is_told_to(tmp_path: Path) -> None:
    for number in (signal.SIGTERM, signal.SIGINT):
        with running(environment(tmp_path, TWO)) as exporter:

            def shown(exporter: LiveExporter = exporter) -> Exposition | None:
                page = read(exporter.get())
                return page if len(page.of("DCGM_FI_PROF_SM_ACTIVE")) == 2 else None

            page = eventually("GPM has two samples", shown, within=PATIENCE, every=0.1)
            assert {dict(s.labels)["Hostname"] for s in page.of("DCGM_FI_DEV_GPU_UTIL")} == {"node-a"}
            assert page.value("exporter_source_choice_info", source="nvml", chosen="true", reason="gpus_found") == 1
            assert page.value("exporter_source_choice_info", source="dcgm", chosen="false") == 1
            assert json.loads(exporter.get("/readyz"))["components"] == {"nvml": "ok", "job": "ok"}
            status, said = exporter.end(number)
        assert status == 0
        assert "Traceback" not in said
        assert "nvml: used: there are GPUs on this machine" in exporter.greeting + said
        assert "dcgm: not used:" in exporter.greeting + said
        assert not (tmp_path / "s.sock").exists()


@pytest.mark.parametrize("call", ["nvmlInit", "nvmlDeviceGetCount"])
def test_a_driver_that_never_answers_holds_up_neither_the_page_nor_the_end(tmp_path: Path, call: str) -> None:
    environ = environment(tmp_path, {**TWO, "blocks": [[call, -1]]}, STEPSCOPE_SOURCE="nvml")
    with running(environ) as exporter:

        def failed() -> bool | None:
            return read(exporter.get()).value("exporter_source_errors_total", reason="timeout") >= 1 or None

        eventually("the source has given up a cycle", failed, within=PATIENCE, every=0.1)
        assert exporter.end(signal.SIGTERM)[0] == 0


def test_a_cycle_that_hangs_is_left_behind(tmp_path: Path) -> None:
    inside = tmp_path / "inside"
    with running(environment(tmp_path), "-c", HANG, str(inside)) as exporter:
        eventually("a cycle is in the driver", lambda: inside.exists() or None, within=PATIENCE, every=0.1)
        assert read(exporter.get()).value("exporter_source_up", source="nvml") == 0
        assert exporter.end(signal.SIGTERM)[0] == 0


def test_it_leaves_with_a_failure_when_a_source_has_failed_too_often(tmp_path: Path) -> None:
    environ = environment(tmp_path, STEPSCOPE_SOURCE="dcgm", STEPSCOPE_EXIT_AFTER_FAILURES="2")
    with running(environ) as exporter:
        assert exporter.process.wait(PATIENCE) == 1
        assert exporter.process.stderr is not None
        assert "dcgm failed 2 times in a row: leaving" in exporter.process.stderr.read()


def test_nothing_heavy_is_loaded() -> None:
    code = (
        "import sys\n"
        "from stepscope.cli.main import build_parser\n"
        "build_parser()\n"
        "import stepscope.export.assemble, stepscope.export.serve, stepscope.export.probe, pynvml\n"
        "print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = {name.partition(".")[0] for name in done.stdout.split()}
    assert not loaded & {"numpy", "fastapi", "pydantic", "yaml", "docker", "torch"}
    assert {"starlette", "uvicorn", "requests", "prometheus_client"} <= loaded


def test_what_it_loads_is_what_the_extra_brings() -> None:
    from stepscope.cli.extras import GPU_PACKAGES

    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    extra = text.partition("\ngpu = [")[2].partition("\n]")[0]
    names = {"pynvml": "nvidia-ml-py", "prometheus_client": "prometheus-client"}
    for package in GPU_PACKAGES:
        assert f'"{names.get(package, package)}>=' in extra, package


def words(*options: str, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "stepscope", *options], cwd=ROOT, env=env, capture_output=True, text=True,
        timeout=PATIENCE, check=False,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("options", "key"),
    [
        (("--source", "amd"), "--source"),
        (("--source", "job", "--source", "x"), "--source"),
        (("--dcgm-url", "nowhere"), "--dcgm-url"),
        (("--interval", "0"), "--interval"),
        (("--max-age", "x"), "--max-age"),
        (("--hostname-label", "HOST"), "--hostname-label"),
        (("--port", "70000"), "--port"),
    ],
)
def test_nonsense_is_one_line_and_status_2(
    options: tuple[str, ...], key: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["export", *options]) == 2
    said = capsys.readouterr()
    assert said.err.startswith(f"stepscope export: {key}: ")
    assert said.err.count("\n") == 1
    assert not said.out


def test_a_taken_port_is_one_line(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        done = words("export", "--port", port, env=environment(tmp_path))
    assert done.returncode == 1
    assert f"port: 127.0.0.1:{port} cannot be had (Address already in use); choose another with --port" in done.stderr
    assert "Traceback" not in done.stderr


def test_without_the_extra_it_says_what_to_install(tmp_path: Path) -> None:
    (tmp_path / "requests.py").write_text("raise ModuleNotFoundError(\"No module named 'requests'\", name='requests')")
    environ = environment(tmp_path)
    done = words("export", env=environ | {"PYTHONPATH": f"{tmp_path}:{ROOT}"})
    assert done.returncode == 1
    advice = "pip install '.[gpu]' in the repository"  # no package index has it: another's could come from there
    assert done.stderr == f"stepscope export: needs requests, which is not installed: {advice}\n"
    found = words("export", "--help", env=environ | {"PYTHONPATH": f"{tmp_path}:{ROOT}"})
    assert found.returncode == 0, "reading the words needs nothing"


def test_the_lab_shows_real_gpus_where_there_are_any_and_says_so(tmp_path: Path) -> None:
    environ = environment(tmp_path, TWO, STEPSCOPE_SOURCE="auto")
    with running(environ, "lab", "--port", "0") as exporter:
        assert json.loads(exporter.get("/sd/nodes"))[0]["labels"] == {"instance": "node-a"}
        page = eventually("GPUs", lambda: read(exporter.get()) if b"DCGM" in exporter.get() else None, within=PATIENCE)
        assert len(page.of("DCGM_FI_DEV_POWER_USAGE")) == 2
        assert exporter.end(signal.SIGTERM)[0] == 0


@pytest.mark.parametrize("scenario", [None, {"devices": []}], ids=["no driver", "no GPU"])
def test_the_lab_simulates_where_there_are_none_and_says_why(
    scenario: dict[str, object] | None, tmp_path: Path
) -> None:
    environ = environment(tmp_path, scenario)
    process = subprocess.Popen(
        [sys.executable, "-m", "stepscope", "lab", "--source", "auto"], cwd=ROOT, env=environ, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        assert process.stderr is not None
        line = process.stdout.readline()
        assert line.startswith("no real GPU to show (")
        assert line.endswith("): simulating\n")
        assert process.stderr.readline().startswith("stepscope lab: http://")
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == 0
    finally:
        process.kill()
        process.communicate()


def test_the_lab_takes_no_other_source(tmp_path: Path) -> None:
    for options, env, key in (
        (("--source", "nvml"), {}, "--source"),
        ((), {"STEPSCOPE_SOURCE": "x"}, "STEPSCOPE_SOURCE"),
    ):
        done = words("lab", *options, env=environment(tmp_path) | env)
        assert done.returncode == 2
        assert done.stderr.startswith(f"stepscope lab: {key}: ")
