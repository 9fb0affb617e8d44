"""`stepscope simulate`: a run without a clock, as fast as the machine goes."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from stepscope.cli.errors import UsageError
from stepscope.cli.jobs import FAULT_HELP, add_job, faults_for, job_named
from stepscope.cli.output import print_json
from stepscope.cli.parser import Commands, add_json, command, whole
from stepscope.cli.progress import Bar
from stepscope.cli.runtime import one_blas_thread
from stepscope.cli.summary import summary

DEFAULT_STEPS = 1_000


def add(commands: Commands) -> None:
    """Add the command."""
    parser = command(
        commands, "simulate", run, summary="run a job headless and sum it up, with or without faults", epilog=FAULT_HELP
    )
    parser.add_argument(
        "--steps", type=whole(1, 100_000_000), default=DEFAULT_STEPS, help="steps to run (default: %(default)s)"
    )
    add_job(parser)
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Simulate and print."""
    one_blas_thread()
    from faults.errors import FaultError
    from simulator.headless import simulate

    job = job_named(args.preset)
    faults = faults_for(job, args.fault)
    bar = Bar(sys.stderr, title=job.preset)
    try:
        result: dict[str, Any] = simulate(job, steps=args.steps, seed=args.seed, faults=faults, progress=bar)
    except FaultError as error:
        raise UsageError(f"--fault: {error}") from None
    except ValueError as error:
        raise UsageError(f"--{error}") from None
    finally:
        bar.clear()
    if args.json:
        print_json(result)
    else:
        print(summary(result, title=job.title, faults=args.fault))
    return 0
