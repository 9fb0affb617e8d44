"""`stepscope chaos …`."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from stepscope.cli import chaos, chaos_run, stack_options
from stepscope.stack.actions import ACTIONS, DEFAULT_CPU_PERCENT
from stepscope.stack.chaos import Chaos
from stepscope.stack.interrupt import Interrupt
from stepscope.stack.lease import LeaseFile
from stepscope.stack.project import Project
from tests.cli.conftest import Command
from tests.sdk.fake import ENGINE, PROJECT, FakeEngine, Refused, stack


class Waits:
    """Seconds that a command waited; none of them passes."""

    def __init__(self) -> None:
        self.total = 0.0

    def clock(self) -> float:
        return self.total

    def wait(self, seconds: float) -> bool:
        self.total += seconds
        return False


@pytest.fixture
def leases(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> LeaseFile:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return LeaseFile(tmp_path / "stepscope" / "chaos.json")


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch, leases: LeaseFile) -> FakeEngine:
    """What the command finds in the place of an engine."""
    fake = stack()
    monkeypatch.setattr(stack_options, "_connect", lambda context, environ: fake)
    monkeypatch.delenv("COMPOSE_PROJECT_NAME", raising=False)
    return fake


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> Waits:
    """Waiting takes no time."""
    found = Waits()

    def timed(project: Project, engine: str, leases: LeaseFile) -> Chaos:
        return Chaos(project, engine, leases, clock=found.clock)

    monkeypatch.setattr(chaos_run, "Chaos", timed)
    monkeypatch.setattr(Interrupt, "wait", lambda self, seconds: found.wait(seconds))
    return found


def interrupted_by(number: signal.Signals) -> Callable[[], None]:
    return lambda: signal.raise_signal(number)


def test_words_are_those_of_the_stack() -> None:
    assert {name: action.summary for name, action in ACTIONS.items()} == chaos.SUMMARIES
    assert chaos.DEFAULT_CPU_PERCENT == DEFAULT_CPU_PERCENT


@pytest.mark.parametrize("action", ACTIONS)
def test_it_breaks_waits_and_puts_back(
    stepscope: Command, engine: FakeEngine, leases: LeaseFile, waits: Waits, action: str
) -> None:
    status, out, err = stepscope("chaos", action, "simulator", "--for", "2m")
    assert (status, err) == (0, "")
    assert waits.total == 120
    done = ACTIONS[action].done
    assert out.splitlines() == [
        f"simulator is {done} for 120 s; Ctrl-C puts it back",
        f"look at: {ACTIONS[action].look_at}",
        f"simulator: put back after 120 s of {action}",
    ]
    assert engine.there["simulator"].status == "running"
    assert leases.leases(engine=ENGINE, project=PROJECT) == []
    assert engine.closed


def test_for_programs(stepscope: Command, engine: FakeEngine, waits: Waits) -> None:
    status, out, err = stepscope("chaos", "pause", "simulator", "--json")
    assert (status, err) == (0, "")
    found = json.loads(out)
    assert found.pop("began_at").endswith("+00:00")
    assert found == {
        "service": "simulator", "action": "pause", "container": engine.there["simulator"].id, "seconds": 30.0,
        "ended_by": "time", "left": "undone", "look_at": ACTIONS["pause"].look_at,
    }  # fmt: skip


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_puts_it_back_early(stepscope: Command, engine: FakeEngine, number: signal.Signals) -> None:
    """Even one that comes while it is being broken."""
    simulator = engine.there["simulator"]
    simulator.on_pause = interrupted_by(number)
    status, out, err = stepscope("chaos", "pause", "simulator", "--for", "60m")
    assert (status, err) == (128 + number, "")
    assert out.splitlines()[-1] == "simulator: put back after 0 s of pause, stopped early"
    assert simulator.status == "running"


def test_share_of_the_cpu(stepscope: Command, engine: FakeEngine, waits: Waits) -> None:
    assert stepscope("chaos", "throttle", "simulator", "--cpu", "20").status == 0
    assert engine.there["simulator"].quotas == [20_000, -1]


def test_reset_after_a_crash(stepscope: Command, engine: FakeEngine, leases: LeaseFile, waits: Waits) -> None:
    simulator = engine.there["simulator"]
    simulator.fails["unpause"] = Refused("not now")
    status, _, err = stepscope("chaos", "pause", "simulator")
    assert status == 1
    assert err == (
        "stepscope chaos pause: simulator could not be put back (the Docker engine refuses: not now); "
        "try again: stepscope chaos reset\n"
    )
    status, out, err = stepscope("chaos", "reset")
    assert (status, err) == (1, "")
    assert out.startswith("not put back: simulator could not be put back (")
    status, out, _ = stepscope("chaos", "reset", "--json")
    assert (status, json.loads(out)["failed"][0]["action"]) == (1, "pause")

    simulator.fails.clear()
    status, out, err = stepscope("chaos", "reset")
    assert (status, err) == (0, "")
    assert out == "simulator: put back after 0 s of pause, ended by stepscope chaos reset\n"
    assert simulator.status == "running"
    assert leases.leases(engine=ENGINE, project=PROJECT) == []


def test_reset_with_nothing_to_do(stepscope: Command, engine: FakeEngine) -> None:
    assert stepscope("chaos", "reset") == (0, "nothing is broken on purpose\n", "")
    assert json.loads(stepscope("chaos", "reset", "--json").out) == {"undone": [], "failed": []}


def test_a_container_that_was_removed_meanwhile(stepscope: Command, engine: FakeEngine, waits: Waits) -> None:
    engine.there["simulator"].on_pause = engine.there.clear
    status, out, _ = stepscope("chaos", "pause", "simulator")
    assert status == 0
    assert out.endswith("simulator: its container is gone, nothing to put back after 30 s of pause\n")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ("pause", "grafana"),
            "SERVICE: 'grafana' has not opted in (label stepscope.chaos); those that may be",
        ),
        (("pause", "nginx"), "SERVICE: 'nginx' is not a service of project 'stepscope'; those that may be"),
        (("pause", "simulator", "--for", "5h"), "--for: '5h' is not a time from 1s to 60m, such as 30s or 2m"),
        (("pause", "simulator", "--for", "0"), "--for: '0' is not a time from 1s to 60m"),
        (("pause", "simulator", "--for", "61m"), "--for: '61m' is not a time"),
        (("pause", "simulator", "--for", ""), "--for: '' is not a time"),
        (("throttle", "simulator", "--cpu", "0"), "--cpu: '0' is not a whole number from 1 to 100"),
        (("pause", "simulator", "--cpu", "5"), "--cpu 5: not an option of this command"),
        (("pause",), "SERVICE"),
        (("melt", "simulator"), "melt"),
    ],
)
def test_wrong_input_is_one_line_and_exit_status_2(
    stepscope: Command, engine: FakeEngine, words: tuple[str, ...], said: str
) -> None:
    status, out, err = stepscope("chaos", *words)
    assert (status, out) == (2, "")
    assert said in err
    assert err.count("\n") == 1
    assert engine.there["simulator"].calls == []


@pytest.mark.parametrize(
    ("text", "seconds"), [("1", 1), ("30s", 30), ("2m", 120), ("1m30s", 90), ("1m30", 90), ("60m", 3600)]
)
def test_times(text: str, seconds: int) -> None:
    assert chaos.duration(text) == seconds


def test_what_does_not_run_is_a_failure(stepscope: Command, engine: FakeEngine) -> None:
    engine.there["simulator"].status = "exited"
    status, _, err = stepscope("chaos", "kill", "simulator")
    assert status == 1
    assert err == "stepscope chaos kill: simulator is exited; only what runs can be broken: stepscope status\n"


def test_a_context_that_does_not_exist_is_wrong_input(stepscope: Command, leases: LeaseFile) -> None:
    status, _, err = stepscope("chaos", "kill", "simulator", "--context", "nope")
    assert status == 2
    assert err.startswith("stepscope chaos kill: --context: there is no context 'nope'; there are: default")


def test_reading_the_words_needs_no_sdk() -> None:
    """`import docker` costs more time than all the rest of the command line."""
    from tests.cli.conftest import python

    code = "import sys; from stepscope.cli.main import build_parser; build_parser(); print('docker' in sys.modules)"
    assert python("-c", code).stdout == "False\n"
