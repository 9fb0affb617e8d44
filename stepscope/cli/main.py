"""From words to an exit status. No command's failure ends in a traceback, unless it is a mistake of this program."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence

from stepscope.cli import (
    chaos,
    diagnose,
    doctor,
    evaluate,
    exam,
    export,
    fault,
    health,
    job,
    lab,
    nccl_test,
    presets,
    remedy,
    scenario,
    simulate,
    status,
    straggler,
)
from stepscope.cli.errors import BROKEN_PIPE, FAILED, INTERRUPTED, CliError
from stepscope.cli.extras import EXTRAS
from stepscope.cli.parser import Parser, root


def build_parser() -> Parser:
    """Every command and option."""
    parser, commands = root()
    modules = (
        lab, export, simulate, fault, remedy, scenario, exam, job, diagnose, evaluate, straggler, nccl_test, presets,
        health, doctor, status, chaos,
    )  # fmt: skip
    for module in modules:
        module.add(commands)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; its exit status: 0, 1 for a failure, 2 for wrong input, 130 for Ctrl-C."""
    _never_fail_to_encode()
    command = "stepscope"
    try:
        args = build_parser().understand(argv)
        command = args.prog
        status = args.run(args)
        sys.stdout.flush()
        return int(status)
    except CliError as error:
        return _say(command, error)
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        extra = next((extra for extra, packages in EXTRAS.items() if package in packages), None)
        if extra is None:
            raise
        return _say(
            command, CliError(f"needs {error.name}, which is not installed: pip install '.[{extra}]' in the repository")
        )
    except SystemExit as done:
        return done.code if isinstance(done.code, int) else 0 if done.code is None else FAILED
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        _forget_stdout()
        return BROKEN_PIPE


def _say(command: str, error: CliError) -> int:
    print(f"{getattr(error, 'prog', command)}: {error}", file=sys.stderr)
    return error.status


def _never_fail_to_encode() -> None:
    # A terminal that cannot show × or °C gets a question mark instead of a traceback.
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")


def _forget_stdout() -> None:
    # The reader of our output has gone; without this the interpreter complains when it flushes at exit.
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):
        return
