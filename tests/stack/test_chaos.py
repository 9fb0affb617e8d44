"""Each failure of the monitoring, made by `stepscope chaos` on a real engine: its signature, and the way back.

The five end in five ways: by Ctrl-C, by SIGTERM, by their time, by a reset elsewhere, and by a reset after a crash.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.stack.composed import SERVICES, Stack, composed, plain
from tests.stack.http import request
from tests.stack.real import ROOT, eventually, run

pytestmark = pytest.mark.stack

SCRAPE_TIMEOUT = 4
LAB = '{job="stepscope"}'
MFU = "run:training_mfu:ratio_rate1m"
LONG = "--for=5m"
"""Longer than any test: they end it themselves."""


@dataclass(frozen=True, slots=True)
class Bench:
    """A running project and a place for the state of its chaos."""

    stack: Stack
    state: Path

    @property
    def environment(self) -> dict[str, str]:
        """For `stepscope`."""
        return plain() | {"COMPOSE_PROJECT_NAME": self.stack.project, "XDG_STATE_HOME": str(self.state)}

    def command(self, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
        """`stepscope …` to its end."""
        return subprocess.run(
            (sys.executable, "-m", "stepscope", *words), cwd=ROOT, env=self.environment | more, capture_output=True,
            text=True, timeout=60, check=False,
        )  # fmt: skip

    @contextmanager
    def chaos(self, *words: str) -> Iterator[subprocess.Popen[str]]:
        """`stepscope chaos …` from the moment at which something is broken; nothing is when the block has ended."""
        process = subprocess.Popen(
            (sys.executable, "-m", "stepscope", "chaos", *words), cwd=ROOT, env=self.environment, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        try:
            assert process.stdout is not None
            assert process.stderr is not None
            assert "Ctrl-C puts it back" in process.stdout.readline(), process.stderr.read()
            yield process
        finally:
            process.kill()
            process.communicate()
            self.command("chaos", "reset")

    def lab(self) -> dict[str, Any]:
        """The lab's targets by instance, as Prometheus' targets page has them."""
        found = self.stack.prometheus.targets().items()
        return {instance: target for (job, instance), target in found if job == "stepscope"}

    def durations(self) -> list[float]:
        """Of the last scrape of each target of the lab, in seconds."""
        return list(self.stack.prometheus.vector(f"scrape_duration_seconds{LAB}").values())

    def down(self, error: str) -> bool | None:
        """Whether `up` is 0 for each of the lab's targets, with this error."""
        up = self.stack.prometheus.vector(f"up{LAB}").values()
        errors = [target["lastError"] for target in self.lab().values()]
        return (set(up) == {0} and bool(errors) and all(error in each for each in errors)) or None

    def health(self) -> str:
        """What the engine says of the lab."""
        return str(self.stack.inspect("simulator")["State"]["Health"]["Status"])

    def recovers(self) -> None:
        """Waits until each target was scraped again with success, and the engine calls the lab healthy."""
        since = time.time()

        def scraped() -> bool | None:
            fresh = self.stack.prometheus.vector(f"timestamp(up{LAB}) > {since}")
            return (len(fresh) == len(self.lab()) and not self.stack.prometheus.vector(f"up{LAB} == 0")) or None

        eventually("every target is up again", scraped, within=40)
        eventually("the lab is healthy again", lambda: self.health() == "healthy" or None, within=30)
        assert self.command("chaos", "reset").stdout == "nothing is broken on purpose\n"


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    with composed("chaos") as stack:
        stack.up(*SERVICES)
        found = Bench(stack, tmp_path_factory.mktemp("state"))
        eventually("MFU is recorded", lambda: stack.prometheus.vector(MFU) or None, within=60)
        yield found


def end(process: subprocess.Popen[str], number: signal.Signals | None = None) -> tuple[int, str]:
    """Exit status of a chaos that is asked to stop, or ends by itself, and what it said after its first line."""
    if number is not None:
        process.send_signal(number)
    assert process.stdout is not None
    said = process.stdout.read()
    return process.wait(timeout=60), said


def test_status_of_a_healthy_stack(bench: Bench) -> None:
    done = bench.command("status", "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(done.stdout)
    assert found["ok"] is True
    assert {each["service"]: each["health"] for each in found["services"]} == dict.fromkeys(SERVICES, "healthy")
    assert all(10 * 2**20 < each["memory_bytes"] < 400 * 2**20 for each in found["services"])
    assert found["prometheus"]["url"] == bench.stack.prometheus.url
    assert found["prometheus"]["targets_up"] == found["prometheus"]["targets"] == 3
    assert all(0.35 < mfu < 0.5 for mfu in found["prometheus"]["mfu"].values())


def test_any_docker_context_will_do(bench: Bench, tmp_path: Path) -> None:
    socket = run("docker", "context", "inspect", "--format", "{{.Endpoints.docker.Host}}").stdout.strip()
    meta = tmp_path / "contexts" / "meta" / hashlib.sha256(b"elsewhere").hexdigest() / "meta.json"
    meta.parent.mkdir(parents=True)
    meta.write_text(json.dumps({"Name": "elsewhere", "Metadata": {}, "Endpoints": {"docker": {"Host": socket}}}))
    (tmp_path / "config.json").write_text(json.dumps({"currentContext": "elsewhere"}))
    configured = {"DOCKER_CONFIG": str(tmp_path)}
    for words in ((), ("--context", "elsewhere")):
        done = bench.command("status", *words, **configured)
        assert done.returncode == 0, done.stderr
    missing = bench.command("status", "--context", "nowhere", **configured)
    assert missing.returncode == 2
    assert "there are: default, elsewhere" in missing.stderr


def test_pause_lets_a_scrape_hang_until_its_timeout(bench: Bench) -> None:
    steps = bench.stack.prometheus.value("training_steps_total")
    with bench.chaos("pause", "simulator", LONG) as process:
        eventually("up is 0", lambda: bench.down("deadline exceeded"), within=30)
        assert bench.durations() == pytest.approx([SCRAPE_TIMEOUT] * 2, rel=0.1)
        shown = json.loads(bench.command("status", "--json").stdout)
        assert shown["ok"] is False
        (simulator,) = (each for each in shown["services"] if each["service"] == "simulator")
        assert (simulator["state"], simulator["chaos"][:11]) == ("paused", "pause until")
        status, said = end(process, signal.SIGINT)
    assert status == 130
    assert said.endswith("of pause, stopped early\n")
    bench.recovers()
    assert bench.stack.prometheus.value("training_steps_total") > steps, "counters went on"
    assert max(bench.durations()) < 1


def test_disconnect_leaves_a_healthy_container_that_nobody_reaches(bench: Bench) -> None:
    started = bench.stack.prometheus.value("process_start_time_seconds" + LAB)
    aliases = network_aliases(bench.stack)
    with bench.chaos("disconnect", "simulator", LONG) as process:
        # A scrape on a connection that was open hangs first.
        eventually("up is 0", lambda: bench.down("no such host"), within=30)
        assert max(bench.durations()) < 1
        state = bench.stack.inspect("simulator")["State"]
        assert (state["Status"], state["Health"]["Status"]) == ("running", "healthy")
        assert bench.command("chaos", "reset").returncode == 0
        status, said = end(process)
    assert status == 0
    assert said.endswith("ended by stepscope chaos reset\n")
    bench.recovers()
    assert network_aliases(bench.stack) == aliases
    assert "simulator" in aliases
    assert request(f"{bench.stack.lab.url}/version").status == 200, "the published port is back"
    assert bench.stack.prometheus.value("process_start_time_seconds" + LAB) == started, "it never stopped"


def network_aliases(stack: Stack) -> set[str]:
    """Names by which the lab is found on its network."""
    (endpoint,) = stack.inspect("simulator")["NetworkSettings"]["Networks"].values()
    return set(endpoint["Aliases"])


def test_throttle_makes_scrapes_slow_and_up_stays_1(bench: Bench) -> None:
    unlimited = cpu_limit(bench.stack)
    before, began = max(bench.durations()), time.time()
    with bench.chaos("throttle", "simulator", "--for=20s") as process:
        assert cpu_limit(bench.stack) != unlimited
        status, said = end(process)
    assert status == 0
    assert re.search(r"simulator: put back after \d+ s of throttle\n$", said)
    window = math.ceil(time.time() - began)
    query = bench.stack.prometheus.vector
    slow = query(f"max_over_time(scrape_duration_seconds{LAB}[{window}s])").values()
    assert max(slow) > max(0.1, 10 * before)
    assert set(query(f"min_over_time(up{LAB}[{window}s])").values()) == {1}
    assert cpu_limit(bench.stack) == unlimited
    bench.recovers()
    eventually("scrapes are fast again", lambda: max(bench.durations()) < 0.1 or None, within=20)


def cpu_limit(stack: Stack) -> str:
    """What the kernel grants the lab, in either of its spellings."""
    read = "cat /sys/fs/cgroup/cpu.max 2>/dev/null || cat /sys/fs/cgroup/cpu/cpu.cfs_quota_us"
    done = stack.compose("exec", "--no-TTY", "simulator", "sh", "-c", read)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_kill_resets_every_counter(bench: Bench) -> None:
    began = time.time()
    with bench.chaos("kill", "simulator", LONG) as process:
        eventually("up is 0", lambda: bench.down("no such host"), within=30)
        assert bench.stack.inspect("simulator")["State"]["ExitCode"] == 137
        process.kill()
        process.wait(timeout=60)
        # The crash of the program that broke it: nothing but the file of leases knows what is to be done.
        assert bench.stack.inspect("simulator")["State"]["Status"] == "exited"
        again = bench.command("chaos", "kill", "simulator")
        assert again.returncode == 1
        assert "broken already: kill until" in again.stderr
        reset = bench.command("chaos", "reset")
        assert (reset.returncode, reset.stderr) == (0, "")
        assert reset.stdout.startswith("simulator: put back after ")
    bench.recovers()
    window = math.ceil(time.time() - began) + 10
    assert bench.stack.prometheus.value(f"resets(training_steps_total[{window}s])") == 1


def test_stop_takes_the_name_away(bench: Bench) -> None:
    with bench.chaos("stop", "simulator", LONG) as process:
        eventually("up is 0", lambda: bench.down("no such host"), within=30)
        assert max(bench.durations()) < 1
        assert bench.stack.inspect("simulator")["State"]["ExitCode"] == 0
        status, _ = end(process, signal.SIGTERM)
    assert status == 143
    bench.recovers()


def test_only_services_that_opted_in_are_broken(bench: Bench) -> None:
    done = bench.command("chaos", "kill", "grafana")
    assert done.returncode == 2
    assert "those that may be broken: prometheus, simulator" in done.stderr
    assert done.stderr.count("\n") == 1
