"""The job and the faults that a headless command was asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from stepscope.cli.errors import UsageError
from stepscope.cli.parser import DEFAULT_PRESET, DEFAULT_SEED, Parser, seed

if TYPE_CHECKING:
    from faults.spec import FaultSpec
    from simulator.job import JobSpec

FAULT_HELP = """\
a fault is a kind and what to change about it; it acts from the first step:
  --fault straggler:ranks=2,slowdown=1.5
  --fault io_starvation:mode=tail,intensity=moderate
  --fault gradient_explosion
whom it hits: ranks=2 or ranks=2+5, nodes=0, count=3, percent=25, target=all or target=one
how strongly: intensity=mild, moderate, severe or a number above 0 and up to 1
kinds and their parameters: stepscope fault kinds (asks a running lab)"""


def add_job(parser: Parser) -> None:
    """`--preset`, `--seed` and `--fault`."""
    parser.add_argument(
        "--preset", default=DEFAULT_PRESET, help="job to run, see stepscope presets (default: %(default)s)"
    )
    parser.add_argument(
        "--seed", type=seed, default=DEFAULT_SEED,
        help="fixes every random draw: the same seed gives the same output (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--fault", action="append", default=[], metavar="KIND:KEY=VALUE,…", help="a fault, may be given several times"
    )


def job_named(preset: str, *, key: str = "--preset") -> JobSpec:
    """The job of a preset; UsageError, naming the key and the valid presets, for an unknown one."""
    from simulator.presets import PRESETS

    if preset not in PRESETS:
        raise UsageError(f"{key}: {preset!r} is not one of {', '.join(PRESETS)}")
    return PRESETS[preset]


def faults_for(job: JobSpec, texts: Sequence[str]) -> list[FaultSpec]:
    """The faults that were typed; UsageError for one that is none, or that this job cannot show."""
    return [_fault(text, job) for text in texts]


def _fault(text: str, job: JobSpec) -> FaultSpec:
    from faults.errors import FaultError
    from faults.parse import parse_fault

    try:
        spec = parse_fault(text)
        _refuse_unless_it_fits(spec, job)
    except FaultError as error:
        raise UsageError(f"--fault {text!r}: {error}") from None
    return spec


def _refuse_unless_it_fits(spec: FaultSpec, job: JobSpec) -> None:
    """FaultError, with the target under the key that was typed, for a fault that this job cannot have."""
    from faults.book import FaultBook
    from faults.errors import FaultError, Problem
    from simulator.run import topology_of

    try:
        FaultBook(topology_of(job), seed=0).preview("fault", spec, at_seconds=0.0, next_step=0)
    except FaultError as error:
        key = f"/{spec.target.mode}" if spec.target is not None else "/target"
        typed: Sequence[Problem] = [
            Problem(key if problem.pointer.startswith("/target") else problem.pointer, problem.detail)
            for problem in error.problems
        ]
        raise FaultError(typed, code=error.code) from None
