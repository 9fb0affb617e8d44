"""`stepscope simulate`."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
from typing import Any

import pytest

from faults import registry
from simulator.names import PHASES
from stepscope.cli import progress
from tests.cli.conftest import ROOT, Command, environment, python

TOP = [
    "preset", "seed", "steps", "step_seconds", "tokens_per_second_per_gpu", "mfu", "hfu", "phases", "ranks", "loss",
    "grad_norm", "warnings",
]  # fmt: skip
RANK = [
    "rank", "phases", "gpu_util", "sm_active", "sm_occupancy", "tensor_active", "dram_active", "power_watts",
    "temperature_celsius", "sm_clock_mhz",
]  # fmt: skip
EXTREMES = ["last", "max", "max_step"]


def simulated(stepscope: Command, *words: str, steps: int = 20) -> dict[str, Any]:
    status, out, err = stepscope("simulate", "--steps", str(steps), "--json", *words)
    assert (status, err) == (0, "")
    result = json.loads(out)
    assert isinstance(result, dict)
    return result


def test_the_object(stepscope: Command) -> None:
    result = simulated(stepscope, "--preset", "workshop-4gpu", "--seed", "7")
    assert list(result) == TOP
    assert (result["preset"], result["seed"], result["steps"]) == ("workshop-4gpu", 7, 20)
    assert list(result["step_seconds"]) == ["mean", "p50", "p99", "max"]
    assert list(result["phases"]) == list(PHASES)
    assert [rank["rank"] for rank in result["ranks"]] == [0, 1, 2, 3]
    assert all(list(rank) == RANK and list(rank["phases"]) == list(PHASES) for rank in result["ranks"])
    assert list(result["loss"]) == list(result["grad_norm"]) == EXTREMES
    assert result["warnings"] == []
    assert sum(result["phases"].values()) == pytest.approx(1.0)


def test_the_same_seed_gives_the_same_bytes() -> None:
    words = ("-m", "stepscope", "simulate", "--steps", "50", "--seed", "3", "--json", "--fault", "io_starvation")
    first, second = (python(*words, env=environment(PYTHONHASHSEED=seed)) for seed in ("1", "2"))
    assert first.returncode == second.returncode == 0
    assert first.stdout == second.stdout != ""


def test_another_seed_gives_something_else(stepscope: Command) -> None:
    assert simulated(stepscope, "--seed", "1")["step_seconds"] != simulated(stepscope, "--seed", "2")["step_seconds"]


def test_faults_act_from_the_first_step(stepscope: Command) -> None:
    healthy = simulated(stepscope)
    slow = simulated(stepscope, "--fault", "straggler:ranks=2,slowdown=1.5", "--fault", "gradient_explosion")
    waits = [rank["phases"]["collective_wait"] for rank in slow["ranks"]]
    assert waits.index(min(waits)) == 2
    assert slow["step_seconds"]["mean"] > 1.4 * healthy["step_seconds"]["mean"]
    assert slow["grad_norm"]["max"] > 100 * healthy["grad_norm"]["max"]


def test_for_people(stepscope: Command) -> None:
    status, out, err = stepscope(
        "simulate", "--preset", "anatomy-32gpu", "--steps", "20", "--fault", "straggler:ranks=1"
    )
    assert (status, err) == (0, "")
    assert "faults: straggler:ranks=1" in out
    assert "GPU utilization" in out
    assert "16 more ranks" in out
    assert "note: an anatomy" in out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--preset", "workshop"), "--preset: 'workshop' is not one of workshop-4gpu, "),
        (("--steps", "0"), "--steps: '0' is not a whole number from 1 to"),
        (("--steps", "1e3"), "--steps: '1e3' is not a whole number"),
        (("--seed", "-1"), "--seed: '-1' is not a whole number from 0 to 4294967295"),
        (("--seed", "4294967296"), "--seed: '4294967296' is not a whole number from 0 to 4294967295"),
        (("--seed", "9" * 5000), "is not a whole number from 0 to 4294967295"),
        (("--fault", "stragler"), f"kind: must be one of {', '.join(registry.kinds())}"),
        (("--fault", "straggler:speed=2"), "speed: is not a key of straggler; valid keys: slowdown, ranks"),
        (("--fault", "straggler:slowdown=9"), "slowdown: must be a number from 1.05 to 4, not 9"),
        (("--fault", "straggler:ranks=2,ranks=3"), "ranks: is given twice"),
        (("--fault", "straggler:ranks=4"), "--fault 'straggler:ranks=4': ranks: ranks of this job go from 0 to 3"),
        (("--fault", "straggler:nodes=1"), "nodes: nodes of this job go from 0 to 0"),
        (("--fault", "straggler:count=9"), "count: must be at most 4"),
        (("--fault", "straggler:intensity=severer"), "intensity: must be"),
        (("--fault", "hang"), "--steps: the job stands still for more than 900 simulated seconds after 0 of the 1000"),
    ],
)
def test_wrong_input(stepscope: Command, words: tuple[str, ...], said: str) -> None:
    status, out, err = stepscope("simulate", *words)
    assert (status, out) == (2, "")
    assert err.startswith("stepscope simulate: --")
    assert said in err
    assert err.count("\n") == 1


def test_too_many_faults(stepscope: Command) -> None:
    status, _, err = stepscope("simulate", *["--fault", "none"] * 65)
    assert status == 2
    assert err == "stepscope simulate: --fault: at most 64 faults may be live at once; clear one, or reset\n"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_on_a_terminal(stepscope: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(progress, "_EVERY_SECONDS", 0.0)
    out = stepscope("simulate", "--steps", "20", "--json").out
    assert json.loads(out)["steps"] == 20
    drawn = terminal.getvalue().split("\r")
    assert "workshop-4gpu  ████████████████████████ 100 %  20 of 20 steps  0:00 left" in drawn
    assert drawn[-2].strip() == drawn[-1] == ""


def test_no_progress_off_a_terminal(stepscope: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "_EVERY_SECONDS", 0.0)
    assert stepscope("simulate", "--steps", "20").err == ""


def test_interrupted() -> None:
    # It says that it has begun by drawing its progress, for which it must think that it has a terminal.
    code = (
        "import sys; from stepscope.cli import progress\n"
        "sys.stderr.isatty = lambda: True\n"
        "from stepscope.__main__ import main\n"
        "sys.exit(main(['simulate', '--steps', '100000000']))"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code], cwd=ROOT, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stderr is not None
    os.read(process.stderr.fileno(), 1)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert out == b""
    assert b"Traceback" not in err
