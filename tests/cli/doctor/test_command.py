"""`stepscope doctor`, whatever it finds on this machine."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from stepscope.cli.client import Client
from stepscope.cli.doctor import clock, docker, examine, gpus, memory, ports, python, report, stack
from stepscope.cli.doctor.check import Check, Unknown, listed
from stepscope.cli.doctor.context import Context
from stepscope.cli.doctor.engine import Engine
from stepscope.cli.doctor.examine import Facts, judge
from stepscope.cli.doctor.look import Look
from stepscope.cli.doctor.settings import Port
from tests.cli.conftest import Answer, Command
from tests.cli.conftest import python as run_python
from tests.cli.test_client import free_port

Serving = Callable[[Answer], str]

NAMES = [
    "python", "packages", "memory", "clock", "lab port", "prometheus port", "grafana port", "lab", "lab clock", "gpus",
    "docker command", "docker context", "docker engine", "compose", "architecture", "images", "gpu runtime",
    "stack settings", "mounted files", "file permissions", "line endings", "selinux",
]  # fmt: skip
STATUSES = {"ok", "warning", "problem", "not applicable"}


@pytest.fixture
def healthy(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without Docker or GPUs and with nothing wrong, whatever this one is."""
    monkeypatch.setattr(memory, "look", lambda: memory.Memory(2**34))
    monkeypatch.setattr(clock, "look", lambda: clock.Clock(2e9, 0.5, 0.5))
    monkeypatch.setattr(gpus, "look", lambda: gpus.Gpus(package=False, driver=False))
    monkeypatch.setattr(ports, "look", lambda port: ports.Held(port, ports.FREE))
    monkeypatch.setattr(stack, "look", lambda *_: None)
    nothing = docker.Docker("", Context("default", ""), None, "", old_compose=False, wanted={})
    monkeypatch.setattr(docker, "look", lambda *_, **__: nothing)


@pytest.mark.usefixtures("healthy")
def test_a_healthy_machine(stepscope: Command) -> None:
    status, out, err = stepscope("doctor", "--json", "--lab-port", str(free_port()))
    assert (status, err) == (0, "")
    checks = json.loads(out)
    assert [check["name"] for check in checks] == NAMES
    assert all(list(check) == ["name", "status", "found", "advice"] for check in checks)
    assert {check["status"] for check in checks} == {"ok", "warning", "not applicable"}


@pytest.mark.usefixtures("healthy")
def test_for_people(stepscope: Command) -> None:
    status, out, err = stepscope("doctor", "--lab-port", str(free_port()))
    assert (status, err) == (0, "")
    assert "ok       memory            16,384 MiB free\n" in out
    assert "warning  docker command    docker is not on the PATH\n" in out
    assert "→ install Docker with Compose v2 if you want them" in out
    assert out.splitlines()[-1] == "no problems, 1 warning, 7 ok, 14 not applicable"


@pytest.mark.usefixtures("healthy")
def test_a_problem_is_exit_status_1(stepscope: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "look", lambda: memory.Memory(0))
    status, out, err = stepscope("doctor", "--lab-port", str(free_port()))
    assert (status, err) == (1, "")
    assert "PROBLEM  memory            0 MiB free\n" in out
    assert out.splitlines()[-1].startswith("1 problem, 1 warning, ")


@pytest.mark.usefixtures("healthy")
def test_a_lab_that_was_named_must_be_there(stepscope: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    url = f"http://127.0.0.1:{free_port()}"
    assert stepscope("doctor", "--url", url).status == 1
    assert f"no lab answers at {url}" in stepscope("doctor", "--url", url).out
    monkeypatch.setenv("STEPSCOPE_URL", url)
    assert stepscope("doctor").status == 1


@pytest.mark.usefixtures("healthy")
def test_a_lab_that_runs(stepscope: Command, lab_url: str) -> None:
    for words in (("--url", lab_url), ("--lab-port", lab_url.rpartition(":")[2])):
        checks = {check["name"]: check for check in json.loads(stepscope("doctor", "--json", *words).out)}
        assert (checks["lab"]["status"], checks["lab"]["found"]) == ("ok", f"{lab_url} is ready")
        assert "by this machine's clock" in checks["lab clock"]["found"]


def test_this_machine(stepscope: Command) -> None:
    status, out, err = stepscope("doctor", "--json")
    checks = json.loads(out)
    assert err == ""
    assert len({check["name"] for check in checks}) == len(checks)
    assert all(check["status"] in STATUSES and check["found"] for check in checks)
    assert all(check["advice"] for check in checks if check["status"] in ("warning", "problem"))
    assert status == int(any(check["status"] == "problem" for check in checks))


def test_it_needs_nothing_but_python(tmp_path: Path) -> None:
    code = (
        "import sys\n"
        "for name in ('numpy', 'fastapi', 'yaml', 'docker', 'pynvml'): sys.modules[name] = None\n"
        "from stepscope.__main__ import main; sys.exit(main(sys.argv[1:]))"
    )
    done = run_python("-c", code, "doctor", "--json", "--folder", str(tmp_path))
    assert (done.returncode, done.stderr) == (1, "")
    checks = {check["name"]: check for check in json.loads(done.stdout)}
    assert checks["packages"]["found"] == "not installed: fastapi, numpy, yaml"
    assert checks["stack settings"]["status"] == "not applicable"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--url", "x"), "--url: 'x' is not an address"),
        (("--lab-port", "0"), "--lab-port: '0' is not a whole number from 1 to 65535"),
        (("--grafana-port", "x"), "--grafana-port: 'x' is not a whole number from 1 to 65535"),
    ],
)
def test_wrong_input(stepscope: Command, words: tuple[str, ...], said: str) -> None:
    status, out, err = stepscope("doctor", *words)
    assert (status, out) == (2, "")
    assert err.startswith(f"stepscope doctor: {said}")
    assert err.count("\n") == 1


def test_a_look_that_fails_and_one_that_hangs() -> None:
    def fail() -> int:
        raise OSError("no\nsuch thing")

    never = threading.Event()
    assert Look(lambda: 3).until(time.monotonic() + 60.0) == 3
    assert Look(fail).until(time.monotonic() + 60.0) == Unknown("OSError: no such thing")
    assert Look(never.wait).until(0.0) == Unknown("it takes too long")
    never.set()


def test_what_could_not_be_seen_is_a_warning() -> None:
    gone = Unknown("it takes too long")
    facts = Facts(gone, [], gone, gone, gone, gone, gone, gone)
    checks = list(judge(facts))
    assert [check.name for check in checks] == ["python", "memory", "clock", "lab", "gpus", "docker", "stack"]
    assert {check.status for check in checks} == {"warning"}
    assert checks[0].found == "could not be looked at: it takes too long"


def test_a_port_that_hangs_is_taken(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    never = threading.Event()
    monkeypatch.setattr(examine, "DEADLINE_SECONDS", 0.01)
    monkeypatch.setattr(ports, "look", lambda _: never.wait())
    port = Port("lab", "8000", "default")
    client = Client(f"http://127.0.0.1:{free_port()}")
    facts = examine.look([port], client, asked_for=False, folder=tmp_path, environ={}, home=tmp_path)
    never.set()
    assert list(facts.ports) == [ports.Held(port, ports.OTHER)]


def test_gpus_and_docker_are_judged_together() -> None:
    engine = Engine("", "28", "linux", "amd64", (), {}, "docker SDK")
    with_docker = docker.Docker("d", Context("default", ""), engine, "2.39", old_compose=False, wanted={})
    cards = gpus.Gpus(True, True, True, "", "570", ("H100",))
    held = [ports.Held(Port("grafana", "3000", "default"), ports.OTHER)]
    unseen = Unknown("")
    facts = Facts(python.look(), held, unseen, unseen, unseen, cards, with_docker, unseen)
    checks = {check.name: check.status for check in judge(facts)}
    assert (checks["gpu runtime"], checks["grafana port"]) == ("warning", "problem")


def test_lists_are_cut() -> None:
    assert listed("abcdef") == "a, b, c, d and 2 more"
    assert listed([]) == ""


def test_the_sum() -> None:
    checks = [Check("a", "problem", "x", "y"), Check("b", "problem", "x", "y"), Check("c", "warning", "x", "y")]
    assert report.summary(checks) == "2 problems, 1 warning, 0 ok, 0 not applicable"
    assert Counter(line.strip()[:1] for line in report.text(checks).splitlines())["→"] == 3
