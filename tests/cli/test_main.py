"""What all commands have in common."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from stepscope import __version__
from stepscope.cli import fault_add, main, parser, presets
from stepscope.cli.errors import CliError
from tests.cli.conftest import ROOT, Command, environment, python


def test_version(stepscope: Command) -> None:
    assert stepscope("--version") == (0, f"stepscope {__version__}\n", "")


@pytest.mark.parametrize(
    "words",
    [
        (), ("lab",), ("simulate",), ("fault",), ("fault", "add"), ("fault", "change"), ("straggler",), ("nccl-test",),
        ("presets",), ("health",), ("doctor",),
    ],
)  # fmt: skip
def test_help(stepscope: Command, words: tuple[str, ...]) -> None:
    status, out, err = stepscope(*words, "--help")
    assert (status, err) == (0, "")
    assert out.startswith(f"usage: {' '.join(['stepscope', *words])} ")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "COMMAND"),
        (
            ("labb",),
            "lab, export, simulate, fault, remedy, scenario, exam, job, diagnose, evaluate, straggler, nccl-test",
        ),
        (("simulate", "--stepz", "3"), "--stepz"),
        (("simulate", "--step", "3"), "--step 3: not an option of this command (see stepscope simulate --help)"),
        (("fault",), "ACTION"),
        (("fault", "ad"), "kinds, add, list, show, change, clear, reset"),
        (("presets", "--json=1"), "--json"),
        (("health", "extra"), "extra"),
    ],
)
def test_words_that_cannot_be_used(stepscope: Command, words: tuple[str, ...], said: str) -> None:
    status, out, err = stepscope(*words)
    assert (status, out) == (2, "")
    assert said in err.replace("'", "")  # Some versions of argparse quote names.
    assert err.count("\n") == 1
    assert err.startswith("stepscope")
    assert "--help)" in err


def test_an_error_is_one_line() -> None:
    assert str(CliError("two\nlines\r\nand  a blank")) == "two lines and a blank"


def test_interrupt(stepscope: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(presets, "run", interrupted)
    assert stepscope("presets") == (130, "", "")


def test_a_mistake_of_ours_is_not_hidden(stepscope: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: object) -> int:
        raise ModuleNotFoundError("No module named 'stepscope.nowhere'", name="stepscope.nowhere")

    monkeypatch.setattr(presets, "run", broken)
    with pytest.raises(ModuleNotFoundError):
        stepscope("presets")


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys; from stepscope.__main__ import main; main(['fault', 'add', '--help'])\n"
        "heavy = {'numpy', 'fastapi', 'urllib.request', 'asyncio'} & set(sys.modules)\n"
        "sys.exit(str(heavy) if heavy else 0)"
    )
    done = python("-c", code)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("missing", "words"),
    [
        ("numpy", "'simulate'"),
        ("numpy", "'straggler'"),
        ("numpy", "'nccl-test'"),
        ("fastapi", "'lab'"),
        ("uvicorn", "'lab'"),
        ("numpy", "'fault', 'add', 'a', 'none:ranks=1'"),
    ],
)
def test_without_the_extra(missing: str, words: str) -> None:
    code = (
        f"import sys; sys.modules['{missing}'] = None; from stepscope.__main__ import main; sys.exit(main([{words}]))"
    )
    done = python("-c", code)
    assert done.returncode == 1
    assert done.stderr.endswith(f"needs {missing}, which is not installed: pip install '.[lab]' in the repository\n")
    assert done.stderr.count("\n") == 1


def test_fault_commands_work_without_the_extra() -> None:
    code = "import sys; sys.modules['numpy'] = None; from stepscope.__main__ import main; sys.exit(main(sys.argv[1:]))"
    done = python("-c", code, "fault", "add", "a", "none", "--url", "http://127.0.0.1:9")
    assert done.returncode == 1
    assert "no lab answers at http://127.0.0.1:9" in done.stderr


def test_a_reader_that_leaves(capfd: pytest.CaptureFixture[str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [sys.executable, "-m", "stepscope", "presets", "--json"], cwd=ROOT, env=environment(), stdout=writing,
        stderr=subprocess.PIPE, check=False,
    )  # fmt: skip
    os.close(writing)
    assert (done.returncode, done.stderr) == (141, b"")


def test_a_terminal_that_cannot_show_everything() -> None:
    done = python("-m", "stepscope", "simulate", "--steps", "2", env=environment(PYTHONIOENCODING="ascii"))
    assert (done.returncode, done.stderr) == (0, "")
    assert "MFU" in done.stdout


def test_repeated_constants_agree() -> None:
    from faults.record import NAME_PATTERN
    from faults.spec import INTENSITIES, LIMITS
    from simulator.presets import DEFAULT_PRESET

    assert parser.DEFAULT_PRESET == DEFAULT_PRESET
    assert parser.NAME_PATTERN == NAME_PATTERN
    assert LIMITS["seed"].maximum == parser.MAX_SEED
    assert dict(INTENSITIES) == fault_add.INTENSITIES


def test_the_parser_can_be_built_twice() -> None:
    assert main.build_parser() is not main.build_parser()
