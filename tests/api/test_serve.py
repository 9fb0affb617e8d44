"""The lab as a process: how it starts, and how it ends."""

from __future__ import annotations

import json
import signal
import socket
from contextlib import ExitStack, suppress
from urllib.request import Request, urlopen

import pytest

from simulator.engine import Engine
from simulator.presets import preset
from stepscope.api.serve import run
from stepscope.api.settings import Settings, SettingsError
from tests.api.live import TOKEN, running

PATIENCE = 20
"""Seconds after which a hung test fails; none passes by waiting for it."""


def _get(url: str) -> bytes:
    with urlopen(Request(url, headers={"Authorization": f"Bearer {TOKEN}"}), timeout=PATIENCE) as answer:
        body: bytes = answer.read()
        return body


def test_a_lab_starts_answers_and_leaves_with_a_viewer_on_the_stream() -> None:
    with running("--seed", "3") as lab:
        state = json.loads(_get(f"{lab.url}/v1/state"))
        assert state["run"]["seed"] == 3
        assert b"lab_run_info" in _get(f"{lab.url}/metrics/truth")
        with urlopen(f"{lab.url}/v1/events/stream?after=0", timeout=PATIENCE) as viewer:
            assert viewer.readline().startswith(b":")
            lab.process.send_signal(signal.SIGTERM)
            rest = viewer.read()
        assert b"run_started" in rest
        assert lab.process.wait(PATIENCE) == 0


def test_a_lab_leaves_with_a_viewer_that_does_not_read() -> None:
    with running() as lab:
        port = int(lab.url.rpartition(":")[2])
        with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as viewer:
            viewer.sendall(b"GET /v1/events/stream?after=0 HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert viewer.recv(16).startswith(b"HTTP/1.1 200")
            lab.process.send_signal(signal.SIGTERM)
            assert lab.process.wait(PATIENCE) == 0


def test_sockets_that_ask_for_nothing_stop_nobody() -> None:
    with running(open_files=256) as lab:
        port = int(lab.url.rpartition(":")[2])
        with ExitStack() as sockets:
            # It is held while they come, so that they are all there at once when it goes on.
            lab.process.send_signal(signal.SIGSTOP)
            sockets.callback(lab.process.send_signal, signal.SIGCONT)
            for index in range(400):
                idle = sockets.enter_context(socket.create_connection(("127.0.0.1", port), timeout=PATIENCE))
                if index % 2:
                    with suppress(OSError):
                        idle.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n")
            lab.process.send_signal(signal.SIGCONT)
            for path in ("/healthz", "/v1/state", "/metrics/run"):
                assert _get(lab.url + path)
            lab.process.send_signal(signal.SIGTERM)
            assert lab.process.wait(PATIENCE) == 0
        assert lab.process.stderr is not None
        log = lab.process.stderr.read()
        assert "Traceback" not in log
        assert "WARNING" not in log


def test_ctrl_c_is_an_ordinary_end() -> None:
    with running() as lab:
        lab.process.send_signal(signal.SIGINT)
        assert lab.process.wait(PATIENCE) == 0


def test_a_taken_port_is_one_line_that_names_it() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        engine = Engine(preset("workshop-4gpu"), seed=1)
        with pytest.raises(SettingsError, match=rf"^port: 127\.0\.0\.1:{port} cannot be had"):
            run(Settings(port=port), engine)


def test_a_host_that_is_not_ours_is_one_line_that_names_it() -> None:
    engine = Engine(preset("workshop-4gpu"), seed=1)
    with pytest.raises(SettingsError, match=r"^(host|port): .*192\.0\.2\.1"):
        run(Settings(host="192.0.2.1", port=0), engine)
